// SPDX-License-Identifier: Apache-2.0
// lamina/core/numbers/small_floats.hpp - conversions of floating-point numbers of at most 16 bits,
// which files contain, to float. Every such number is exactly representable as a float.
#pragma once

#include <lamina/core/config.hpp>

#include <bit>
#include <cstdint>

namespace lamina { inline namespace LAMINA_ABI {

/// The numbers that the largest values of a small float represent.
enum class small_float_specials : std::uint8_t {
  none,          // all values are finite
  ieee,          // the largest exponent represents infinity and NaN
  all_ones_nan,  // the largest exponent with the largest fraction is NaN; there is no infinity
  only_zero_nan  // minus zero is NaN; there is no infinity
};

/// Converts the lowest bits of `bits` to a float with the same value: sign, `ExponentBits` of an
/// exponent with the bias `Bias`, and `FractionBits`. NaN becomes a quiet NaN with the same sign.
template <int ExponentBits, int FractionBits, int Bias, small_float_specials Specials>
constexpr float float_of_small(std::uint32_t bits) {
  constexpr std::uint32_t fraction_mask = (1U << FractionBits) - 1;
  constexpr std::uint32_t exponent_mask = (1U << ExponentBits) - 1;
  constexpr std::uint32_t all = (exponent_mask << FractionBits) | fraction_mask;
  const std::uint32_t sign = ((bits >> (ExponentBits + FractionBits)) & 1U) << 31;
  const std::uint32_t fraction = bits & fraction_mask;
  const std::uint32_t exponent = (bits >> FractionBits) & exponent_mask;
  const std::uint32_t high = fraction << (23 - FractionBits);
  // The smallest numbers are multiples of a power of two, and a float represents them exactly.
  constexpr float unit =
      std::bit_cast<float>(static_cast<std::uint32_t>(128 - Bias - FractionBits) << 23);
  const std::uint32_t tiny = std::bit_cast<std::uint32_t>(static_cast<float>(fraction) * unit);
  const std::uint32_t usual = (exponent + static_cast<std::uint32_t>(127 - Bias)) << 23 | high;
  std::uint32_t value = exponent == 0 ? tiny : usual;
  if constexpr (Specials == small_float_specials::ieee) {
    if (exponent == exponent_mask) value = 0x7f800000U | high | (fraction != 0 ? 0x400000U : 0U);
  } else if constexpr (Specials == small_float_specials::all_ones_nan) {
    if ((bits & all) == all) value = 0x7fc00000U;
  } else if constexpr (Specials == small_float_specials::only_zero_nan) {
    if ((bits & all) == 0 && sign != 0) value = 0x7fc00000U;
  }
  return std::bit_cast<float>(sign | value);
}

/// Converts the bits of a float16 (IEEE 754 binary16) to a float with the same value.
constexpr float float_of_float16(std::uint16_t bits) {
  return float_of_small<5, 10, 15, small_float_specials::ieee>(bits);
}
/// Converts the bits of a number of 8 or 4 bits to a float with the same value. The names are those
/// of safetensors and PyTorch: exponent bits, fraction bits, `fn` without infinity, `uz` without a
/// negative zero.
constexpr float float_of_float8_e4m3fn(std::uint8_t bits) {
  return float_of_small<4, 3, 7, small_float_specials::all_ones_nan>(bits);
}
constexpr float float_of_float8_e5m2(std::uint8_t bits) {
  return float_of_small<5, 2, 15, small_float_specials::ieee>(bits);
}
constexpr float float_of_float8_e4m3fnuz(std::uint8_t bits) {
  return float_of_small<4, 3, 8, small_float_specials::only_zero_nan>(bits);
}
constexpr float float_of_float8_e5m2fnuz(std::uint8_t bits) {
  return float_of_small<5, 2, 16, small_float_specials::only_zero_nan>(bits);
}
constexpr float float_of_float4_e2m1(std::uint8_t bits) {
  return float_of_small<2, 1, 1, small_float_specials::none>(bits);
}
/// Converts a scale of 8 bits to a float: 2^(bits - 127), where 255 is NaN.
constexpr float float_of_float8_e8m0(std::uint8_t bits) {
  const std::uint32_t whole = bits == 0 ? 1U << 22 : static_cast<std::uint32_t>(bits) << 23;
  return std::bit_cast<float>(bits == 0xff ? 0x7fc00000U : whole);
}

}}  // namespace lamina
