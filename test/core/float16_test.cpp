// SPDX-License-Identifier: Apache-2.0
// Floats to float16 and back: every float16, and floats between two of them.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <catch2/catch.hpp>

#include <lamina/core/float16.hpp>

using lamina::float16_bits, lamina::float_of_float16;

TEST_CASE("every float16 is a float, and that float is this float16") {
  int wrong = 0, numbers = 0;
  for (unsigned b = 0; b < 65536; ++b) {
    const float x = float_of_float16(static_cast<std::uint16_t>(b));
    const unsigned exponent = b >> 10 & 31, digits = b & 1023;
    if (exponent == 31 && digits != 0) {
      wrong += !std::isnan(x) || !std::isnan(float_of_float16(float16_bits(x)));
      continue;
    }
    const double size = exponent == 31 ? std::numeric_limits<double>::infinity()
                        : exponent == 0
                            ? std::ldexp(digits, -24)
                            : std::ldexp(1024.0 + digits, static_cast<int>(exponent) - 25);
    wrong += std::signbit(x) != (b >> 15 != 0) || std::abs(static_cast<double>(x)) != size;
    wrong += float16_bits(x) != b;
    ++numbers;
  }
  CHECK(wrong == 0);
  CHECK(numbers == 65536 - 2 * 1023);
}

TEST_CASE("a float between two float16 becomes the nearer one, in the middle the even one") {
  int wrong = 0;
  for (unsigned b = 0; b < 0x7bff; ++b) {
    const float low = float_of_float16(static_cast<std::uint16_t>(b));
    const float high = float_of_float16(static_cast<std::uint16_t>(b + 1));
    const float middle = (low + high) / 2;
    wrong += float16_bits(middle) != b + (b & 1);
    wrong += float16_bits(std::nextafter(middle, 0.0f)) != b;
    wrong += float16_bits(std::nextafter(middle, 1e9f)) != b + 1;
    wrong += float16_bits(-std::nextafter(middle, 1e9f)) != (0x8000u | (b + 1));
  }
  CHECK(wrong == 0);
}

TEST_CASE("what is too large for a float16 is infinite") {
  CHECK(float16_bits(65519.996f) == 0x7bff);
  CHECK(float16_bits(65520.0f) == 0x7c00);
  CHECK(float16_bits(-std::numeric_limits<float>::max()) == 0xfc00);
  CHECK(float16_bits(std::numeric_limits<float>::infinity()) == 0x7c00);
  CHECK(float16_bits(std::numeric_limits<float>::denorm_min()) == 0);
}
