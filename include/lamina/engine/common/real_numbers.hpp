// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/real_numbers.hpp - access to memory whose elements are floats or doubles;
// its size is always given in floats.
//
// Sizes are in floats so that the memory plan, scratch memory and arguments have the same types in
// all programs. An array of doubles takes twice as many floats; its kernel knows this at compile
// time.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// Returns the address as a pointer to elements of type Real.
template <class Real>
LAMINA_INLINE Real* numbers_at(float* memory) {
  return reinterpret_cast<Real*>(memory);
}
template <class Real>
LAMINA_INLINE const Real* numbers_at(const float* memory) {
  return reinterpret_cast<const Real*>(memory);
}

/// Returns the size of `numbers` elements of type Real, in floats.
template <class Real>
constexpr std::ptrdiff_t in_floats(std::ptrdiff_t numbers) {
  return numbers * static_cast<std::ptrdiff_t>(sizeof(Real) / sizeof(float));
}

}}}  // namespace lamina::engine
