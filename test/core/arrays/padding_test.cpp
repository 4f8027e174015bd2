// SPDX-License-Identifier: Apache-2.0
// Widths are padded to multiples of 16.

#include <catch2/catch.hpp>

#include <lamina/core/arrays/padding.hpp>

TEST_CASE("padded: the next multiple of sixteen", "[padding]") {
  STATIC_REQUIRE(lamina::padded(0) == 0);
  STATIC_REQUIRE(lamina::padded(1) == 16);
  STATIC_REQUIRE(lamina::padded(16) == 16);
  STATIC_REQUIRE(lamina::padded(17) == 32);
}
