// SPDX-License-Identifier: Apache-2.0
// bfloat16 rounds to the nearest, ties to even, and keeps NaN.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <catch2/catch.hpp>

#include <lamina/core/numbers/bfloat16.hpp>

TEST_CASE("bfloat16 rounds to the nearest value of 8 bits, ties to even") {
  using lamina::rounded_to_bfloat16;
  CHECK(rounded_to_bfloat16(1) == 1);
  CHECK(rounded_to_bfloat16(-0.15625f) == -0.15625f);
  CHECK(rounded_to_bfloat16(1 + 0x1p-8f) == 1);                // a tie, to the even 1
  CHECK(rounded_to_bfloat16(1 + 3 * 0x1p-8f) == 1 + 0x1p-6f);  // a tie, to the even one above
  CHECK(rounded_to_bfloat16(1 + 0x1.2p-8f) == 1 + 0x1p-7f);
  for (float x = 1e-30f; x < 1e30f; x *= 1.37f)
    CHECK(std::abs(rounded_to_bfloat16(x) - x) <= x * 0x1p-8f);
}

TEST_CASE("bfloat16 keeps NaN and infinities, and large numbers become infinite") {
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(lamina::rounded_to_bfloat16(infinity) == infinity);
  CHECK(lamina::rounded_to_bfloat16(-std::numeric_limits<float>::max()) == -infinity);
  CHECK(std::isnan(lamina::rounded_to_bfloat16(std::nanf(""))));
  // A NaN whose digits all lie in the lower half.
  CHECK(std::isnan(
      lamina::float_of_bfloat16(lamina::bfloat16_bits(std::bit_cast<float>(0x7f800001u)))));
}
