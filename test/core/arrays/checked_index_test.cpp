// SPDX-License-Identifier: Apache-2.0
// Indices of arrays: those outside are errors that name array, index and range.
#include <string>

#include <catch2/catch.hpp>

#include <lamina/core/arrays/checked_index.hpp>

using lamina::detail::checked_index;

namespace {

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const lamina::error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("an index of a dimension is its position") {
  CHECK(checked_index("array", 0, 0, 3) == 0);
  CHECK(checked_index("array", 1, 2ull, 3) == 2);
  CHECK(checked_index("array", 0, std::int8_t{1}, 2) == 1);
}

TEST_CASE("an index outside of a dimension is an error where indices are checked") {
  if (!lamina::detail::checks_indices) {
    CHECK(checked_index("array", 0, 3, 3) == 3);
    return;
  }
  CHECK(error_of([] { checked_index("array", 1, 3, 3); }) ==
        "lamina: array, index 1: expected 0 to 2, found 3");
  CHECK(error_of([] { checked_index("array", 0, -1, 3); }) ==
        "lamina: array, index 0: expected 0 to 2, found -1");
  CHECK(error_of([] { checked_index("array", 0, 0, 0); }) ==
        "lamina: array, index 0: expected elements in this dimension, found 0");
}

TEST_CASE("another number of indices than dimensions is an error") {
  CHECK(error_of([] { lamina::detail::fail_index_count("array", 2, 3); }) ==
        "lamina: array: expected an index for each of 2 dimensions, found 3");
}
