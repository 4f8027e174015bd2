// SPDX-License-Identifier: Apache-2.0
// lamina/core/extremes.hpp - the larger and the smaller of two numbers under one rule: NaN is
// chosen over every number, and of equal numbers the first one.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/math.hpp>

namespace lamina::inline LAMINA_ABI::math {

/// The larger one; NaN where either is NaN.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T maximum(T x, T y) {
  return select(x == x, max LAMINA_NO_MACRO(x, y), x);
}
/// The smaller one; NaN where either is NaN.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T minimum(T x, T y) {
  return select(x == x, min LAMINA_NO_MACRO(x, y), x);
}
/// Whether y replaces x in a search for the largest number: y is larger, or only y is NaN.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN auto is_above(T y, T x) {
  if constexpr (is_plain<T>)
    return y > x || (is_nan(y) && x == x);
  else
    return (y > x) | (is_nan(y) & (x == x));
}
/// Whether y replaces x in a search for the smallest number: y is smaller, or only y is NaN.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN auto is_below(T y, T x) {
  if constexpr (is_plain<T>)
    return y < x || (is_nan(y) && x == x);
  else
    return (y < x) | (is_nan(y) & (x == x));
}
/// Whether x is the given extreme of a set: equal to it, or both are NaN.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN auto is_same(T x, T extreme) {
  if constexpr (is_plain<T>)
    return x == extreme || (is_nan(x) && is_nan(extreme));
  else
    return (x == extreme) | (is_nan(x) & is_nan(extreme));
}

}  // namespace lamina::inline LAMINA_ABI::math
