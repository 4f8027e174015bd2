// SPDX-License-Identifier: Apache-2.0
// lamina/core/wrapping.hpp - sums, differences and products, of whole numbers without an overflow
// that is undefined.
#pragma once

#include <type_traits>

#include <lamina/core/config.hpp>

namespace lamina::math {

/// How whole numbers of T are added up: without a sign, where T is as wide as an int or wider, so
/// that what is beyond the largest number begins again at the smallest one. Other types are used as
/// they are.
template <class T, bool Wraps = std::is_integral_v<T> && (sizeof(T) >= sizeof(int))>
struct wrapping_type {
  using type = T;
};
template <class T>
struct wrapping_type<T, true> {
  using type = std::make_unsigned_t<T>;
};

/// x + y, modulo 2^n where T is a whole number of n bits.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T wrapped_sum(T x, T y) {
  using bits = typename wrapping_type<T>::type;
  return static_cast<T>(static_cast<bits>(x) + static_cast<bits>(y));
}
/// x - y in the same manner.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T wrapped_difference(T x, T y) {
  using bits = typename wrapping_type<T>::type;
  return static_cast<T>(static_cast<bits>(x) - static_cast<bits>(y));
}
/// x * y in the same manner.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T wrapped_product(T x, T y) {
  using bits = typename wrapping_type<T>::type;
  return static_cast<T>(static_cast<bits>(x) * static_cast<bits>(y));
}

}  // namespace lamina::math
