// SPDX-License-Identifier: Apache-2.0
// lamina/core/numbers/bfloat16.hpp - conversions to and from bfloat16, the upper half of a float,
// with 8 bits of precision and the exponents of a float.
#pragma once

#include <lamina/core/config.hpp>

#include <bit>
#include <cstdint>

namespace lamina { inline namespace LAMINA_ABI {

/// Returns the bits of the bfloat16 nearest to x; of two equally near values, the one whose last
/// bit is 0. The relative error is at most 2^-8. Values beyond the range become infinite; NaN stays
/// NaN.
constexpr std::uint16_t bfloat16_bits(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  // NaN is not rounded, because for some NaNs the rounding would carry into the sign bit.
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>(bits >> 16 | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}

/// Converts bfloat16 bits to a float with the same value.
constexpr float float_of_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// Returns x rounded to the precision of a bfloat16.
constexpr float rounded_to_bfloat16(float x) { return float_of_bfloat16(bfloat16_bits(x)); }

}}  // namespace lamina
