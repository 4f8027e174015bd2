// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/real_numbers.hpp - memory that is measured in floats, as floats or as
// doubles.
//
// Sizes are in floats so that the memory plan, scratch memory and arguments are the same for all
// programs. An array of doubles is twice as long; its kernel knows this at compile time.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

namespace lamina::inline LAMINA_ABI::engine {

/// The address as a pointer to real numbers.
template <class Real>
LAMINA_INLINE Real* numbers_at(float* memory) {
  return reinterpret_cast<Real*>(memory);
}
template <class Real>
LAMINA_INLINE const Real* numbers_at(const float* memory) {
  return reinterpret_cast<const Real*>(memory);
}

/// The size of `n` real numbers in floats.
template <class Real>
constexpr std::ptrdiff_t in_floats(std::ptrdiff_t numbers) {
  return numbers * static_cast<std::ptrdiff_t>(sizeof(Real) / sizeof(float));
}

}  // namespace lamina::inline LAMINA_ABI::engine
