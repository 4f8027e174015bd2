// SPDX-License-Identifier: Apache-2.0
// The bound of an array is its number of elements, but never 0.
#include <lamina/core/config.hpp>

#include <cstddef>
#include <type_traits>

#include <catch2/catch.hpp>

TEST_CASE("a bound is the number of elements, and 1 without elements") {
  STATIC_REQUIRE(std::is_same_v<decltype(lamina::bound(1)), std::size_t>);
  STATIC_REQUIRE(lamina::bound(7) == 7);
  STATIC_REQUIRE(lamina::bound(1) == 1);
  STATIC_REQUIRE(lamina::bound(0) == 1);
  STATIC_REQUIRE(lamina::bound(-1) == 1);
}
