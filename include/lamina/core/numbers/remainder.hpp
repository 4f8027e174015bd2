// SPDX-License-Identifier: Apache-2.0
// lamina/core/numbers/remainder.hpp - division that rounds down, and its remainder: for integers,
// real numbers and batches of these.
#pragma once

#include <lamina/core/config.hpp>

#include <type_traits>

#include <lamina/core/numbers/math.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace math {

/// Returns x - y * floor(x / y), computed without rounding the quotient. The result is 0, or has
/// the sign of y and a smaller absolute value than y. For real numbers it is NaN if y is 0 or x is
/// infinite. For integers it is 0 if y is 0; callers report a zero divisor before they call this.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T remainder(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    // The smallest integer divided by -1 overflows, which ends the program on some processors.
    if (y == T(0) || y == static_cast<T>(-1)) return T(0);
    const T r = static_cast<T>(x % y);
    return r != T(0) && (r < T(0)) != (y < T(0)) ? static_cast<T>(r + y) : r;
  } else if constexpr (is_plain<T>) {
    const T r = std::fmod(x, y);
    return r != T(0) && (r < T(0)) != (y < T(0)) ? r + y : r;
  } else {
    // A vector formula is not exact if x / y has more digits than a lane can hold, so the lanes are
    // computed one by one.
    typename T::value_type a[T::size], b[T::size];
    x.store_unaligned(a);
    y.store_unaligned(b);
    for (std::size_t i = 0; i < T::size; ++i) a[i] = remainder(a[i], b[i]);
    return T::load_unaligned(a);
  }
}

/// Returns floor(x / y). The smallest integer divided by -1 wraps around to itself, and an integer
/// divided by 0 gives 0 (callers report a zero divisor before).
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T floored_quotient(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    using bits = std::make_unsigned_t<T>;
    if (y == T(0)) return T(0);
    if (y == static_cast<T>(-1)) return static_cast<T>(bits(0) - static_cast<bits>(x));
    const T q = static_cast<T>(x / y);
    return x % y != T(0) && (x < T(0)) != (y < T(0)) ? static_cast<T>(q - 1) : q;
  } else {
    return math::floor(x / y);
  }
}

/// Returns x / y; for integers the quotient is rounded towards 0. The special cases are those of
/// floored_quotient.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T quotient(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    using bits = std::make_unsigned_t<T>;
    if (y == T(0)) return T(0);
    if (y == static_cast<T>(-1)) return static_cast<T>(bits(0) - static_cast<bits>(x));
    return static_cast<T>(x / y);
  } else {
    return x / y;
  }
}

}}}  // namespace lamina::math
