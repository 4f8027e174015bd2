// SPDX-License-Identifier: Apache-2.0
// lamina/core/numbers/wrapping.hpp - sums, differences, products and powers that are defined for
// all integers: they wrap around instead of overflowing.
#pragma once

#include <lamina/core/config.hpp>

#include <type_traits>

namespace lamina { inline namespace LAMINA_ABI { namespace math {

namespace detail {
// The type in which values of T are added and multiplied. For integers it is unsigned, because only
// unsigned arithmetic is defined when it overflows.
template <class T, bool Whole = std::is_integral_v<T> && !std::is_same_v<T, bool>>
struct wrapping_of {
  using type = std::conditional_t<std::is_same_v<T, bool>, int, T>;
};
template <class T>
struct wrapping_of<T, true> {
  using type = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
};
template <class T>
using wrapping = typename wrapping_of<T>::type;
}  // namespace detail

/// Returns x + y. A result outside of the range of an integer type T wraps around, as in PyTorch.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T wrapping_sum(T x, T y) {
  using number = detail::wrapping<T>;
  return static_cast<T>(static_cast<number>(x) + static_cast<number>(y));
}
/// Returns x - y. A result outside of the range of an integer type T wraps around.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T wrapping_difference(T x, T y) {
  using number = detail::wrapping<T>;
  return static_cast<T>(static_cast<number>(x) - static_cast<number>(y));
}
/// Returns x * y. A result outside of the range of an integer type T wraps around.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T wrapping_product(T x, T y) {
  using number = detail::wrapping<T>;
  return static_cast<T>(static_cast<number>(x) * static_cast<number>(y));
}

/// Returns x to the power of y for integers: the product of y factors x, which wraps around. For a
/// negative y the result is 1 / x^-y rounded towards 0, that is, 0 unless x is 1 or -1; for x = 0
/// it is 0 too.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T whole_power(T x, T y) {
  if (y < T(0)) return x == T(1) ? T(1) : x == T(-1) ? (y % T(2) == T(0) ? T(1) : T(-1)) : T(0);
  T power = T(1);
  for (T factor = x; y > T(0); y = static_cast<T>(y / T(2))) {
    if (y % T(2) != T(0)) power = wrapping_product(power, factor);
    factor = wrapping_product(factor, factor);
  }
  return power;
}

}}}  // namespace lamina::math
