// SPDX-License-Identifier: Apache-2.0
// Every number of at most 16 bits against its definition.
#include <cmath>
#include <cstdint>
#include <limits>

#include <catch2/catch.hpp>

#include <lamina/core/numbers/small_floats.hpp>

namespace {

/// The number by the definition, in double: (-1)^sign 2^(exponent - bias) 1.fraction, or without
/// the 1 for the smallest exponent.
double defined(unsigned bits, int exponent_bits, int fraction_bits, int bias) {
  const unsigned fraction = bits & ((1U << fraction_bits) - 1);
  const int exponent = static_cast<int>(bits >> fraction_bits & ((1U << exponent_bits) - 1));
  const double value =
      exponent == 0 ? std::ldexp(fraction, 1 - bias - fraction_bits)
                    : std::ldexp(fraction + (1U << fraction_bits), exponent - bias - fraction_bits);
  return bits >> (exponent_bits + fraction_bits) & 1 ? -value : value;
}
bool same(float found, double expected) {
  return std::isnan(expected) ? std::isnan(found)
                              : found == expected && std::signbit(found) == std::signbit(expected);
}

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

double with_infinity(unsigned bits, int exponent_bits, int fraction_bits, double finite) {
  const unsigned most = ((1U << exponent_bits) - 1) << fraction_bits;
  if ((bits & most) != most) return finite;
  if ((bits & ((1U << fraction_bits) - 1)) != 0) return not_a_number;
  return finite < 0 ? -infinity : infinity;
}

}  // namespace

TEST_CASE("small floats: all bits", "[core]") {
  int wrong = 0;
  for (unsigned b = 0; b < 65536; ++b)
    wrong += !same(lamina::float_of_float16(static_cast<std::uint16_t>(b)),
                   with_infinity(b, 5, 10, defined(b, 5, 10, 15)));
  CHECK(wrong == 0);
  for (unsigned b = 0; b < 256; ++b) {
    const auto bits = static_cast<std::uint8_t>(b);
    INFO(b);
    CHECK(same(lamina::float_of_float8_e4m3fn(bits),
               (b & 0x7f) == 0x7f ? not_a_number : defined(b, 4, 3, 7)));
    CHECK(same(lamina::float_of_float8_e5m2(bits), with_infinity(b, 5, 2, defined(b, 5, 2, 15))));
    CHECK(same(lamina::float_of_float8_e4m3fnuz(bits),
               b == 0x80 ? not_a_number : defined(b, 4, 3, 8)));
    CHECK(same(lamina::float_of_float8_e5m2fnuz(bits),
               b == 0x80 ? not_a_number : defined(b, 5, 2, 16)));
    CHECK(same(lamina::float_of_float8_e8m0(bits),
               b == 255 ? not_a_number : std::ldexp(1., int(b) - 127)));
  }
  for (unsigned b = 0; b < 16; ++b)
    CHECK(same(lamina::float_of_float4_e2m1(static_cast<std::uint8_t>(b)), defined(b, 2, 1, 1)));
  STATIC_REQUIRE(lamina::float_of_float16(0x3c00) == 1);
}
