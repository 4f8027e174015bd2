// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/memory/real_numbers.hpp - memory that is measured in floats, as floats or as
// doubles.
//
// Why in floats: the memory plan, scratch memory and arguments are the same for all programs. What
// is an array of doubles, and twice as long, its kernel knows when it is compiled.
#pragma once

#include <cstddef>

#include <lamina/core/config.hpp>

namespace lamina::engine::cpu {

/// The real numbers that begin at an address.
template <class Real>
LAMINA_INLINE Real* numbers_at(float* memory) {
  return reinterpret_cast<Real*>(memory);
}
template <class Real>
LAMINA_INLINE const Real* numbers_at(const float* memory) {
  return reinterpret_cast<const Real*>(memory);
}

/// As many bytes as so many real numbers, in floats.
template <class Real>
constexpr std::ptrdiff_t in_floats(std::ptrdiff_t numbers) {
  return numbers * static_cast<std::ptrdiff_t>(sizeof(Real) / sizeof(float));
}

}  // namespace lamina::engine::cpu
