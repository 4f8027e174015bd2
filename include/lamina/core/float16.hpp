// SPDX-License-Identifier: Apache-2.0
// lamina/core/float16.hpp - numbers of 16 bits with 11 bits of precision and 5 of exponents:
// binary16 of IEEE 754.
#pragma once

#include <bit>
#include <cstdint>

namespace lamina {

/// The bits of the float16 that is nearest to x; of two the even one. From 2^-14 on its relative
/// error is at most 2^-11, below its error is at most 2^-25; what is 65520 or larger becomes
/// infinite, and what is not a number stays none.
constexpr std::uint16_t float16_bits(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = bits >> 16 & 0x8000U, size = bits & 0x7fffffffU;
  if (size > 0x7f800000U) return static_cast<std::uint16_t>(sign | 0x7e00U | (size >> 13 & 0x3ffU));
  if (size >= 0x477ff000U) return static_cast<std::uint16_t>(sign | 0x7c00U);
  // Numbers between 0.5 and 1 are as far apart as those without a leading 1: the sum is rounded.
  if (size < 0x38800000U)
    return static_cast<std::uint16_t>(
        sign | (std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + 0.5f) - 0x3f000000U));
  return static_cast<std::uint16_t>(sign | (size + 0xfffU + (size >> 13 & 1U) - 0x38000000U) >> 13);
}

/// The float of these bits, which has the same value.
constexpr float float_of_float16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16, exponent = bits >> 10 & 31U;
  const std::uint32_t digits = bits & 0x3ffU;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000U | digits << 13);
  if (exponent > 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | digits << 13);
  const float size = static_cast<float>(digits) * 0x1p-24f;
  return sign != 0 ? -size : size;
}

}  // namespace lamina
