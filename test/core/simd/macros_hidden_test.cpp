// SPDX-License-Identifier: Apache-2.0
// Macros of other headers are hidden while a dependency is included, and are the same afterwards.
#define I 7
#define Status int
#define small char

#include <lamina/core/simd/macros_hidden.hpp>

constexpr int as_names_between(int I) {
  const int Status = I, small = Status + 1;
  return small;
}

#include <type_traits>

#include <catch2/catch.hpp>

#include <lamina/core/simd/macros_shown.hpp>

TEST_CASE("macros that others define are hidden between the two headers only") {
  CHECK(as_names_between(1) == 2);
  CHECK(I == 7);
  CHECK(std::is_same_v<Status, int>);
  CHECK(std::is_same_v<small, char>);
}
