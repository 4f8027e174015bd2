// SPDX-License-Identifier: Apache-2.0
// lamina/core/extremes.hpp - the larger and the smaller of two numbers under one rule: what is not
// a number (NaN) is chosen before every number, and of equal ones the first.
#pragma once

#include <lamina/core/math.hpp>

namespace lamina::math {

/// The larger one; NaN where either is NaN.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T maximum(T x, T y) {
  return select(x == x, max(x, y), x);
}
/// The smaller one; NaN where either is NaN.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T minimum(T x, T y) {
  return select(x == x, min(x, y), x);
}
/// Whether a search for the largest that holds x goes on with y: y is larger, or NaN and x is not.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN auto is_above(T y, T x) {
  if constexpr (is_plain<T>)
    return y > x || (is_nan(y) && x == x);
  else
    return (y > x) | (is_nan(y) & (x == x));
}
/// Whether a search for the smallest that holds x goes on with y: y is smaller, or NaN and x is
/// not.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN auto is_below(T y, T x) {
  if constexpr (is_plain<T>)
    return y < x || (is_nan(y) && x == x);
  else
    return (y < x) | (is_nan(y) & (x == x));
}
/// Whether x is the extreme that was found among it and others: equal to it, or both are NaN.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN auto is_same(T x, T extreme) {
  if constexpr (is_plain<T>)
    return x == extreme || (is_nan(x) && is_nan(extreme));
  else
    return (x == extreme) | (is_nan(x) & is_nan(extreme));
}

}  // namespace lamina::math
