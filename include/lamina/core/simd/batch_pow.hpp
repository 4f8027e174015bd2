// SPDX-License-Identifier: Apache-2.0
// lamina/core/simd/batch_pow.hpp - powers of SIMD batches, as IEEE 754 defines them.
#pragma once

#include <lamina/core/config.hpp>

#include <limits>
#include <type_traits>

#include <lamina/core/simd/batch_functions.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace math::detail {

// Splits positive numbers for pow: a = 2^k m, where k and m come from the exponent and the mantissa
// bits of a. T is a batch of floats or doubles.
template <class T>
struct pow_parts {
  static constexpr bool is_double = is_batch_of_doubles<T>;
  using word = std::conditional_t<is_double, unsigned long long, unsigned>;
  using words [[gnu::vector_size(sizeof(T))]] = word;
  static constexpr int digits = is_double ? 52 : 23;
  static constexpr word one = is_double ? word(0x3ff0000000000000) : word(0x3f800000);
  static constexpr word root = is_double ? word(0x3fe6a09e667f3bcd) : word(0x3f3504f3);
  static constexpr double smallest = is_double ? 0x1p-1022 : 0x1p-126;
  static constexpr double up = is_double ? 54 : 24;

  static LAMINA_INLINE words words_of(T x) {
    words bits;
    auto number = x.data;
    __builtin_memcpy(&bits, &number, sizeof bits);
    return bits;
  }
  static LAMINA_INLINE T number_of(words bits) {
    auto number = T(0).data;
    __builtin_memcpy(&number, &bits, sizeof bits);
    return T(number);
  }

  // a = 2^k m with m from sqrt(1/2) to sqrt(2); log_m is the logarithm of m to base 2.
  T k, log_m;
  explicit LAMINA_INLINE pow_parts(T a) {
    const auto smaller = a < T(smallest);
    const words bits =
        words_of(T(call_select(smaller, T(a * T(is_double ? 0x1p54 : 0x1p24f)), a))) + (one - root);
    // Converts the exponent bits to a number without a conversion instruction: if n is an integer
    // below 2^digits, the floating-point number 2^digits + n has n as its mantissa bits.
    const word whole = is_double ? word(0x4330000000000000) : word(0x4b000000);
    const double bias = is_double ? 0x1p52 + 1023 : 0x1p23 + 127;
    k = number_of((bits >> digits) | whole) - T(bias);
    k = k - call_select(smaller, T(up), T(0));
    const T m = number_of((bits & ((word(1) << digits) - 1)) + root);
    const T f = m - T(1);
    const T s = f / (T(2) + f);
    const T z = s * s;
    if constexpr (is_double) {
      // log2 m by the series of 2 artanh(s) / log 2. The first omitted term is below 1e-18.
      T p(2.8853900817779268 / 23);
      for (int n = 21; n >= 3; n -= 2) p = call_fma(p, z, T(2.8853900817779268 / n));
      log_m = call_fma(T(p * z), s, T(s * T(2.8853900817779268)));
    } else {
      T p = call_fma(T(0.43177425f), z, T(0.57672605f));
      p = call_fma(p, z, T(0.96179848f));
      log_m = call_fma(T(p * z), s, T(s * T(2.88539008f)));
    }
  }
  // Returns 2^n e^r.
  static LAMINA_INLINE T power(T n, T r) {
    if constexpr (is_double)
      return times_two_powers(T(call_fma(series_exp_quotient(r), r, T(1))), n);
    else
      return times_any_power(T(call_fma(exp_quotient(r), r, T(1))), n);
  }
};

// Returns x^y, computed as |x|^y = 2^(y k + y log2 m). The integer part n of the exponent is exact,
// and so is y k - n, so the result keeps most of its digits even if the power is large. Then the
// special cases of IEEE 754 are handled: 0, infinity, negative numbers and NaN.
template <class T>
LAMINA_INLINE T ieee_pow(T x, T y) {
  constexpr bool is_double = is_batch_of_doubles<T>;
  const T a = call_abs(x);
  const pow_parts<T> of(T(call_select(a == T(0), T(1), a)));
  const T distant = constant<T>(is_double ? 1e300 : 1e30), top(is_double ? 1030 : 130),
          bottom(is_double ? -2046 : -254);
  const T limited = call_max(T(-distant), call_min(distant, y));
  const T exponent = call_max(bottom, call_min(top, T(limited * (of.k + of.log_m))));
  const T n = nearbyint(exponent);
  const T rest = call_fma(limited, of.log_m, call_fma(limited, of.k, T(-n)));
  const T r = call_max(T(-1), call_min(T(1), rest)) * constant<T>(0.69314718055994530942);
  T value = pow_parts<T>::power(n, r);
  // 0 and infinity
  const T infinity(std::numeric_limits<typename T::value_type>::infinity());
  value = call_select(a == T(0), T(call_select(y > T(0), T(0), infinity)), value);
  value = call_select(a == infinity, T(call_select(y > T(0), infinity, T(0))), value);
  // negative numbers
  const auto is_whole = call_floor(y) == y;
  const T half = y * T(0.5);
  const auto is_even = call_floor(half) == half;
  value = call_select(
      is_whole, T(call_select(is_even, value, T(copysign(value, x)))),
      T(call_select(x < T(0), T(call_select(a == infinity, value, T(a - a) / T(0))), value)));
  // NaN; but x^0 and 1^y are 1 even for NaN
  value = call_select(x == x, T(call_select(y == y, value, y)), x);
  return call_select(y == T(0), T(1), T(call_select(x == T(1), T(1), value)));
}

}}}  // namespace lamina::math::detail
