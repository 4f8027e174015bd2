// SPDX-License-Identifier: Apache-2.0
// Numbers of elements, from integers of any type.
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/reader/element_count.hpp>

using lamina::reader::element_count;

namespace {

std::string message(element_count n, std::int64_t least) {
  try {
    n.at_least(least, "batch");
  } catch (const lamina::error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

static_assert(std::is_convertible_v<short, element_count>);
static_assert(std::is_convertible_v<unsigned long, element_count>);

TEST_CASE("counts are what was written, of each integer type") {
  CHECK(element_count(3).at_least(1, "batch") == 3);
  CHECK(element_count(std::uint8_t{200}).at_least(1, "batch") == 200);
  CHECK(element_count(std::int64_t{1} << 40).at_least(1, "batch") == std::size_t{1} << 40);
  CHECK(element_count(0).at_least(0, "shuffle") == 0);
  // A number beyond 2^63 - 1 means all elements.
  CHECK(element_count((std::numeric_limits<std::uint64_t>::max)()).at_least(1, "firstn") ==
        static_cast<std::size_t>((std::numeric_limits<std::int64_t>::max)()));
}

TEST_CASE("too small a count is refused with the number that was written") {
  CHECK(message(-5, 1) == "lamina: reader::batch: expected at least 1 element, found -5");
  CHECK(message(std::int8_t{-1}, 0) ==
        "lamina: reader::batch: expected at least 0 elements, found -1");
  CHECK(message(1, 2) == "lamina: reader::batch: expected at least 2 elements, found 1");
  CHECK(message(1, 1).empty());
}
