// SPDX-License-Identifier: Apache-2.0
// lamina/core/numbers/extremes.hpp - the larger and the smaller of two numbers, by one rule for all
// operators: NaN is preferred to every number, and of equal numbers the first is chosen.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/math.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace math {

/// Returns the larger of x and y; NaN if either is NaN.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T maximum(T x, T y) {
  return select(x == x, max LAMINA_NO_MACRO(x, y), x);
}
/// Returns the smaller of x and y; NaN if either is NaN.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T minimum(T x, T y) {
  return select(x == x, min LAMINA_NO_MACRO(x, y), x);
}
/// Whether y replaces the largest number x found so far: y is larger, or only y is NaN.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN auto is_above(T y, T x) {
  if constexpr (is_plain<T>)
    return y > x || (is_nan(y) && x == x);
  else
    return (y > x) | (is_nan(y) & (x == x));
}
/// Whether y replaces the smallest number x found so far: y is smaller, or only y is NaN.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN auto is_below(T y, T x) {
  if constexpr (is_plain<T>)
    return y < x || (is_nan(y) && x == x);
  else
    return (y < x) | (is_nan(y) & (x == x));
}
/// Whether x equals the extreme of a set; NaN equals NaN here.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN auto is_same(T x, T extreme) {
  if constexpr (is_plain<T>)
    return x == extreme || (is_nan(x) && is_nan(extreme));
  else
    return (x == extreme) | (is_nan(x) & is_nan(extreme));
}

}}}  // namespace lamina::math
