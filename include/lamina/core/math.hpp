// SPDX-License-Identifier: Apache-2.0
// lamina/core/math.hpp - the functions an operator's equation is written in.
// One equation serves float, double, a SIMD batch and, later, a CUDA thread: for arithmetic types
// these call the C library, for anything else the function found by argument-dependent look-up.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include <lamina/core/config.hpp>

namespace lamina::math {

/// Whether T is a plain number and not a SIMD batch.
template <class T>
inline constexpr bool is_plain = std::is_arithmetic_v<T>;
/// Whether it is a SIMD batch of doubles, for which functions to the last digits of float are none.
template <class T>
inline constexpr bool is_batch_of_doubles = false;
template <class T>
requires std::is_same_v<typename T::value_type, double>
inline constexpr bool is_batch_of_doubles<T> = true;

namespace detail {
// Look-up by argument finds xsimd's functions; these declarations only make the names known.
void log();
void log1p();
void erf();
void sqrt();
void sin();
void cos();
void asin();
void acos();
void atan();
void any();
void floor();
void ceil();
void round();
void abs();
void min();
void max();
void select();
void fma();
void nearbyint();
void to_int();
void ldexp();
void copysign();
void times_power_of_two();

template <class T>
LAMINA_INLINE LAMINA_FN T call_log(T x) {
  return log(x);
}
template <class T>
LAMINA_INLINE LAMINA_FN T call_log1p(T x) {
  return log1p(x);
}
template <class T>
LAMINA_INLINE LAMINA_FN T call_erf(T x) {
  return erf(x);
}
template <class T>
LAMINA_INLINE LAMINA_FN T call_sqrt(T x) {
  return sqrt(x);
}
template <class T>
LAMINA_INLINE LAMINA_FN T call_sin(T x) {
  return sin(x);
}
template <class T>
LAMINA_INLINE LAMINA_FN T call_cos(T x) {
  return cos(x);
}
template <class T>
LAMINA_INLINE LAMINA_FN T call_asin(T x) {
  return asin(x);
}
template <class T>
LAMINA_INLINE LAMINA_FN T call_acos(T x) {
  return acos(x);
}
template <class T>
LAMINA_INLINE LAMINA_FN T call_atan(T x) {
  return atan(x);
}
template <class C>
LAMINA_INLINE LAMINA_FN bool call_any(C c) {
  return any(c);
}
// xsimd has no rounding instruction in SSE2, and makes 0 of -0 and of what is rounded to it.
template <class T>
LAMINA_INLINE LAMINA_FN T call_floor(T x) {
#if defined(__SSE2__) && !defined(__SSE4_1__)
  return copysign(floor(x), x);
#else
  return floor(x);
#endif
}
template <class T>
LAMINA_INLINE LAMINA_FN T call_ceil(T x) {
#if defined(__SSE2__) && !defined(__SSE4_1__)
  return copysign(ceil(x), x);
#else
  return ceil(x);
#endif
}
template <class T>
LAMINA_INLINE LAMINA_FN T call_round(T x) {
  return round(x);
}
template <class T>
LAMINA_INLINE LAMINA_FN T call_abs(T x) {
  return abs(x);
}
template <class T>
LAMINA_INLINE LAMINA_FN T call_min(T x, T y) {
  return min(x, y);
}
template <class T>
LAMINA_INLINE LAMINA_FN T call_max(T x, T y) {
  return max(x, y);
}
template <class C, class T>
LAMINA_INLINE LAMINA_FN T call_select(C c, T a, T b) {
  return select(c, a, b);
}
template <class T>
LAMINA_INLINE LAMINA_FN T call_fma(T x, T y, T z) {
  return fma(x, y, z);
}

// e^r - 1 divided by r, for r up to half of log 2: e^r = 1 + r q has a relative error below 1.1e-7.
template <class T>
LAMINA_INLINE LAMINA_FN T exp_quotient(T r) {
  T q = call_fma(T(8.31250399e-3f), r, T(4.18903297e-2f));
  q = call_fma(q, r, T(0.166671154f));
  q = call_fma(q, r, T(0.499992303f));
  return call_fma(q, r, T(1.f));
}
// x - k log 2. log 2 is subtracted in two parts, the first of which has so few digits that k times
// it is exact.
template <class T>
LAMINA_INLINE LAMINA_FN T without_powers(T x, T k) {
  return call_fma(k, T(2.12194440e-4f), call_fma(k, T(-0.693359375f), x));
}
// x 2^k, where 2^k may be more, or less, than a float holds: in one instruction that
// core/intrinsics.hpp names, or as two factors.
template <class T>
LAMINA_INLINE LAMINA_FN T times_any_power(T x, T k) {
  if constexpr (requires { times_power_of_two(x, k); }) {
    return times_power_of_two(x, k);
  } else {
    const auto whole = to_int(k);
    const auto half = whole >> 1;
    return ldexp(ldexp(x, half), whole - half);
  }
}

// 2^k e^r with k the whole number nearest to x / log 2. With the roundings of float the relative
// error is below 3e-7.
template <class T>
LAMINA_INLINE LAMINA_FN T polynomial_exp(T x) {
  const T y = call_max(T(-104.f), call_min(T(89.f), x));
  const T k = nearbyint(y * T(1.44269504f));
  const T r = without_powers(y, k);
  return times_any_power(T(call_fma(exp_quotient(r), r, T(1.f))), k);
}
// The same with ends that come earlier where that costs less: k is 128 or -127 there, whose power
// is infinite or 0.
template <class T>
LAMINA_INLINE LAMINA_FN T polynomial_exp_in_sum(T x) {
  if constexpr (requires { times_power_of_two(x, x); }) {
    return polynomial_exp(x);
  } else {
    const T y = call_max(T(-88.3f), call_min(T(89.f), x));
    const T k = nearbyint(y * T(1.44269504f));
    const T r = without_powers(y, k);
    return ldexp(T(call_fma(exp_quotient(r), r, T(1.f))), to_int(k));
  }
}
// 2^k (1 + r q) - 1 = 2^k r q + (2^k - 1): no digits are lost where k is 0. The half of 2^k is
// what a float holds at both ends.
template <class T>
LAMINA_INLINE LAMINA_FN T polynomial_expm1(T x) {
  const T y = call_max(T(-20.f), call_min(T(89.f), x));
  const T k = nearbyint(y * T(1.44269504f));
  const T r = without_powers(y, k);
  const T half = ldexp(T(1.f), to_int(T(k - T(1.f))));
  const T value = T(2.f) * call_fma(half, T(r * exp_quotient(r)), T(half - T(0.5f)));
  // Below 1e-7 the nearest float is x, also for what has lost digits or a sign.
  return call_select(call_abs(x) < T(1e-7f), x, value);
}
// log(1 + e) for e from 0 to 1: the series of 2 artanh(s) with s = e / (2 + e), whose polynomial
// minimises the largest relative error, 6e-9.
template <class T>
LAMINA_INLINE LAMINA_FN T series_log1p(T e) {
  const T s = e / (T(2.f) + e);
  const T z = s * s;
  T p = call_fma(T(0.28172242f), z, T(0.2797406f));
  p = call_fma(p, z, T(0.40022809f));
  p = call_fma(p, z, T(0.66666403f));
  return call_fma(T(p * z), s, T(s + s));
}

// 2^k of a batch of doubles that are whole numbers from -1022 to 1023: added to 1.5 * 2^52 they are
// the last bits of a double, which become the exponent. (Conversions of doubles to integers go
// through memory in xsimd 8.)
template <class T>
LAMINA_INLINE T power_of_two(T k) {
  using words [[gnu::vector_size(sizeof(T))]] = long long;
  auto number = (k + T(0x1.8p52 + 1023)).data;
  words bits;
  __builtin_memcpy(&bits, &number, sizeof bits);
  bits <<= 52;
  __builtin_memcpy(&number, &bits, sizeof bits);
  return T(number);
}
// The series of (e^r - 1) / r: the last term of r q is below 5e-18.
template <class T>
LAMINA_INLINE T series_exp_quotient(T r) {
  constexpr double factorials[] = {479001600, 39916800, 3628800, 362880, 40320, 5040,
                                   720,       120,      24,      6,      2,     1};
  T q(1.0 / 6227020800);
  for (const double f : factorials) q = call_fma(q, r, T(1 / f));
  return q;
}
template <class T>
LAMINA_INLINE T without_powers_of_double(T x, T k) {
  return call_fma(k, T(-1.9082149292705877e-10), call_fma(k, T(-0.69314718036912382), x));
}
// x 2^k in two factors, for 2^k may be more, or less, than a double holds.
template <class T>
LAMINA_INLINE T times_two_powers(T x, T k) {
  const T half = nearbyint(k * T(0.5));
  return x * power_of_two(half) * power_of_two(T(k - half));
}
// As polynomial_exp.
template <class T>
LAMINA_INLINE T series_exp(T x) {
  const T y = call_max(T(-746.0), call_min(T(710.0), x));
  const T k = nearbyint(y * T(1.4426950408889634));
  const T r = without_powers_of_double(y, k);
  return times_two_powers(T(call_fma(series_exp_quotient(r), r, T(1.0))), k);
}
// As polynomial_expm1.
template <class T>
LAMINA_INLINE T series_expm1(T x) {
  const T y = call_max(T(-40.0), call_min(T(710.0), x));
  const T k = nearbyint(y * T(1.4426950408889634));
  const T r = without_powers_of_double(y, k);
  const T half = power_of_two(T(k - T(1.0)));
  const T value = T(2.0) * call_fma(half, T(r * series_exp_quotient(r)), T(half - T(0.5)));
  return call_select(call_abs(x) < T(1e-16), x, value);
}
// What is below the smallest normal number is multiplied first: xsimd 8 takes its exponent from the
// wrong number.
template <class T>
LAMINA_INLINE T double_log(T x) {
  const auto small = x < T(0x1p-1022);
  const T value = call_log(T(call_select(small, T(x * T(0x1p54)), x)));
  return value - call_select(small, T(37.429947750237048), T(0.0));
}
// Below 0.625 x (1 + x^2 P(x^2) / Q(x^2)) with the polynomials of Cephes, else 1 - 2 / (e^(2x) +
// 1).
template <class T>
LAMINA_INLINE T double_tanh(T x) {
  const T t = x * x;
  T p = call_fma(T(-9.64399179425052238628e-1), t, T(-9.92877231001918586564e1));
  p = call_fma(p, t, T(-1.61468768441708447952e3));
  T q = t + T(1.12811678491632931402e2);
  q = call_fma(q, t, T(2.23548839060100448583e3));
  q = call_fma(q, t, T(4.84406305325125486048e3));
  const T size = call_abs(x);
  const T far = T(1.0) - T(2.0) / (series_exp(T(size + size)) + T(1.0));
  return call_select(size < T(0.625), T(x * (T(1.0) + t * p / q)),
                     T(call_select(x < T(0.0), T(-far), far)));
}

// x - tanh(x) below 0.625, by the polynomials of double_tanh.
template <class T>
LAMINA_INLINE LAMINA_FN T small_tanh_rest(T x) {
  const T t = x * x;
  T p = T(9.64399179425052238628e-1) * t + T(9.92877231001918786564e1);
  p = p * t + T(1.61468768441708447952e3);
  T q = t + T(1.12811678491631932402e2);
  q = q * t + T(2.23548839060100448583e3);
  q = q * t + T(4.84406305325125486048e3);
  return x * (t * p / q);
}

// What pow needs of a vector of floats or of doubles, bit by bit.
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

  // a = 2^k m with m from sqrt(1/2) to sqrt(2), and the logarithm of m to base 2.
  T k, log_m;
  explicit LAMINA_INLINE pow_parts(T a) {
    const auto small = a < T(smallest);
    const words bits =
        words_of(T(call_select(small, T(a * T(is_double ? 0x1p54 : 0x1p24f)), a))) + (one - root);
    // Whole numbers below 2^digits are the last digits of 2^digits and more.
    const word whole = is_double ? word(0x4330000000000000) : word(0x4b000000);
    const double bias = is_double ? 0x1p52 + 1023 : 0x1p23 + 127;
    k = number_of((bits >> digits) | whole) - T(bias);
    k = k - call_select(small, T(up), T(0));
    const T m = number_of((bits & ((word(1) << digits) - 1)) + root);
    const T f = m - T(1);
    const T s = f / (T(2) + f);
    const T z = s * s;
    if constexpr (is_double) {
      // The series of 2 artanh(s) / log 2; the first term that is left out is below 1e-18.
      T p(2.8853900817779268 / 23);
      for (int n = 21; n >= 3; n -= 2) p = call_fma(p, z, T(2.8853900817779268 / n));
      log_m = call_fma(T(p * z), s, T(s * T(2.8853900817779268)));
    } else {
      T p = call_fma(T(0.43177425f), z, T(0.57672605f));
      p = call_fma(p, z, T(0.96179848f));
      log_m = call_fma(T(p * z), s, T(s * T(2.88539008f)));
    }
  }
  // 2^n e^r.
  static LAMINA_INLINE T power(T n, T r) {
    if constexpr (is_double)
      return times_two_powers(T(call_fma(series_exp_quotient(r), r, T(1))), n);
    else
      return times_any_power(T(call_fma(exp_quotient(r), r, T(1))), n);
  }
};

// |x|^y = 2^(y k + y log2 m). The whole part of the exponent is exact, and y k less that too, so
// that few digits are lost where the power is large. What IEEE 754 says of 0, infinity, numbers
// below 0 and NaN stands behind that.
template <class T>
LAMINA_INLINE T ieee_pow(T x, T y) {
  constexpr bool is_double = is_batch_of_doubles<T>;
  const T a = call_abs(x);
  const pow_parts<T> of(a);
  const T far(is_double ? 1e300 : 1e30), top(is_double ? 1030 : 130),
      bottom(is_double ? -1080 : -152);
  const T limited = call_max(T(-far), call_min(far, y));
  const T exponent = call_max(bottom, call_min(top, T(limited * (of.k + of.log_m))));
  const T n = nearbyint(exponent);
  const T rest = call_fma(limited, of.log_m, call_fma(limited, of.k, T(-n)));
  const T r = call_max(T(-1), call_min(T(1), rest)) * T(0.69314718055994530942);
  T value = pow_parts<T>::power(n, r);
  // 0 and infinity
  const T infinity(std::numeric_limits<typename T::value_type>::infinity());
  value = call_select(a == T(0), T(call_select(y > T(0), T(0), infinity)), value);
  value = call_select(a == infinity, T(call_select(y > T(0), infinity, T(0))), value);
  // numbers below 0
  const auto is_whole = call_floor(y) == y;
  const T half = y * T(0.5);
  const auto is_even = call_floor(half) == half;
  value = call_select(
      is_whole, T(call_select(is_even, value, T(copysign(value, x)))),
      T(call_select(x < T(0), T(call_select(a == infinity, value, T(a - a) / T(0))), value)));
  // NaN, and what is 1 in spite of it
  value = call_select(x == x, T(call_select(y == y, value, y)), x);
  return call_select(y == T(0), T(1), T(call_select(x == T(1), T(1), value)));
}

// Beyond 6 the nearest double is 1. Far beyond, and of what is not a number, xsimd 8 makes integers
// that there are not.
template <class T>
LAMINA_INLINE T double_erf(T x) {
  const T y = call_max(T(-6.0), call_min(T(6.0), T(call_select(x == x, x, T(0.0)))));
  return call_select(x == x, call_erf(y), x);
}

// y P(y^2) / Q(y^2) with y = x between -9.01 and 9.01, beyond which the nearest float is 1: nine
// multiplications with an addition each and one division. The polynomials minimise the largest
// relative error, 2e-8; with the roundings of float it is below 4e-7. What is not a number stays
// so: min and max return their second operand then.
template <class T>
LAMINA_INLINE LAMINA_FN T rational_tanh(T x) {
  const T y = call_max(T(-9.01f), call_min(T(9.01f), x));
  const T t = y * y;
  T p = call_fma(T(1.3336545e-8f), t, T(2.059605e-5f));
  p = call_fma(p, t, T(3.4947973e-3f));
  p = call_fma(p, t, T(0.1338036f));
  p = call_fma(p, t, T(1.f));
  T q = call_fma(T(7.769157e-7f), t, T(3.2843408e-4f));
  q = call_fma(q, t, T(2.5873974e-2f));
  q = call_fma(q, t, T(0.46713674f));
  q = call_fma(q, t, T(1.f));
  return call_max(T(-1.f), call_min(T(1.f), y * p / q));
}

// The same for the error function, with y = x between -4.2 and 4.2: the largest relative error of
// the polynomials is 6e-8, and towards the ends they are a little above 1, so that what is cut off
// is 1, not almost.
template <class T>
LAMINA_INLINE LAMINA_FN T rational_erf(T x) {
  const T y = call_max(T(-4.2f), call_min(T(4.2f), x));
  const T t = y * y;
  T p = call_fma(T(1.8287348e-6f), t, T(2.8937738e-4f));
  p = call_fma(p, t, T(4.3553608e-3f));
  p = call_fma(p, t, T(5.4575477e-2f));
  p = call_fma(p, t, T(0.20537914f));
  p = call_fma(p, t, T(1.1283791f));
  T q = call_fma(T(3.6011304e-5f), t, T(1.2882898e-3f));
  q = call_fma(q, t, T(1.6170576e-2f));
  q = call_fma(q, t, T(0.12015607f));
  q = call_fma(q, t, T(0.51534414f));
  q = call_fma(q, t, T(1.f));
  return call_max(T(-1.f), call_min(T(1.f), y * p / q));
}
}  // namespace detail

/// e^x; of a batch of floats with a relative error below 3e-7, of doubles below 3e-16.
template <class T>
LAMINA_INLINE LAMINA_FN T exp(T x) {
  if constexpr (is_plain<T>)
    return std::exp(x);
  else if constexpr (is_batch_of_doubles<T>)
    return detail::series_exp(x);
  else
    return detail::polynomial_exp(x);
}
/// e^x where 1 or more is added to it, or it is added up with others of which one is 1: of a batch
/// of floats it may be infinite from 88.37 on and 0 below -87.68, where that costs less.
template <class T>
LAMINA_INLINE LAMINA_FN T exp_in_sum(T x) {
  if constexpr (is_plain<T> || is_batch_of_doubles<T>)
    return exp(x);
  else
    return detail::polynomial_exp_in_sum(x);
}
/// e^x - 1, to the last digits where x is small.
template <class T>
LAMINA_INLINE LAMINA_FN T expm1(T x) {
  if constexpr (is_plain<T>)
    return std::expm1(x);
  else if constexpr (is_batch_of_doubles<T>)
    return detail::series_expm1(x);
  else
    return detail::polynomial_expm1(x);
}
/// log(1 + e^x), to the last digits where e^x is small.
template <class T>
LAMINA_INLINE LAMINA_FN T log1p_exp(T x) {
  if constexpr (is_plain<T>) {
    const T e = std::exp(x < T(0) ? x : -x);
    return std::log1p(e) + (x > T(0) ? x : T(0));
  } else {
    const T e = math::exp(T(-detail::call_abs(x)));
    const T most = detail::call_select(x > T(0), x, T(0));
    if constexpr (is_batch_of_doubles<T>)
      return detail::call_log1p(e) + most;
    else
      return detail::series_log1p(e) + most;
  }
}
/// Natural logarithm.
template <class T>
LAMINA_INLINE LAMINA_FN T log(T x) {
  if constexpr (is_plain<T>)
    return std::log(x);
  else if constexpr (is_batch_of_doubles<T>)
    return detail::double_log(x);
  else
    return detail::call_log(x);
}
/// Hyperbolic tangent; of a batch of floats with a relative error below 4e-7, of doubles below
/// 3e-16.
template <class T>
LAMINA_INLINE LAMINA_FN T tanh(T x) {
  if constexpr (is_plain<T>)
    return std::tanh(x);
  else if constexpr (is_batch_of_doubles<T>)
    return detail::double_tanh(x);
  else
    return detail::rational_tanh(x);
}
/// x - tanh(x), to the last digits where x is small.
template <class T>
LAMINA_INLINE LAMINA_FN T tanh_rest(T x) {
  if constexpr (is_plain<T>) {
    return std::abs(x) < T(0.625) ? detail::small_tanh_rest(x) : x - std::tanh(x);
  } else {
    return detail::call_select(detail::call_abs(x) < T(0.625), detail::small_tanh_rest(x),
                               T(x - math::tanh(x)));
  }
}
/// Square root.
template <class T>
LAMINA_INLINE LAMINA_FN T sqrt(T x) {
  if constexpr (is_plain<T>)
    return std::sqrt(x);
  else
    return detail::call_sqrt(x);
}
/// Sine of an angle in radians.
template <class T>
LAMINA_INLINE LAMINA_FN T sin(T x) {
  if constexpr (is_plain<T>)
    return std::sin(x);
  else
    return detail::call_sin(x);
}
/// Cosine of an angle in radians.
template <class T>
LAMINA_INLINE LAMINA_FN T cos(T x) {
  if constexpr (is_plain<T>)
    return std::cos(x);
  else
    return detail::call_cos(x);
}
/// Arc sine, in radians.
template <class T>
LAMINA_INLINE LAMINA_FN T asin(T x) {
  if constexpr (is_plain<T>)
    return std::asin(x);
  else
    return detail::call_asin(x);
}
/// Arc cosine, in radians.
template <class T>
LAMINA_INLINE LAMINA_FN T acos(T x) {
  if constexpr (is_plain<T>)
    return std::acos(x);
  else
    return detail::call_acos(x);
}
/// Arc tangent, in radians.
template <class T>
LAMINA_INLINE LAMINA_FN T atan(T x) {
  if constexpr (is_plain<T>)
    return std::atan(x);
  else
    return detail::call_atan(x);
}
/// Gauss error function 2/sqrt(pi) * integral of e^(-t^2) from 0 to x; of a batch of floats with a
/// relative error below 5e-7, of doubles below 1e-14.
template <class T>
LAMINA_INLINE LAMINA_FN T erf(T x) {
  if constexpr (is_plain<T>)
    return std::erf(x);
  else if constexpr (is_batch_of_doubles<T>)
    return detail::double_erf(x);
  else
    return detail::rational_erf(x);
}
/// x^y as IEEE 754 has it; of a batch of floats with a relative error below 1e-6 where |y log x| is
/// below 10, below 1e-5 elsewhere.
template <class T>
LAMINA_INLINE LAMINA_FN T pow(T x, T y) {
  if constexpr (is_plain<T>)
    return std::pow(x, y);
  else
    return detail::ieee_pow(x, y);
}
/// Largest whole number not above x.
template <class T>
LAMINA_INLINE LAMINA_FN T floor(T x) {
  if constexpr (is_plain<T>)
    return std::floor(x);
  else
    return detail::call_floor(x);
}
/// Smallest whole number not below x.
template <class T>
LAMINA_INLINE LAMINA_FN T ceil(T x) {
  if constexpr (is_plain<T>)
    return std::ceil(x);
  else
    return detail::call_ceil(x);
}
/// Nearest whole number, halves away from zero.
template <class T>
LAMINA_INLINE LAMINA_FN T round(T x) {
  if constexpr (is_plain<T>)
    return std::round(x);
  else
    return detail::call_round(x);
}
/// |x|.
template <class T>
LAMINA_INLINE LAMINA_FN T abs(T x) {
  if constexpr (is_plain<T>)
    return x < T(0) ? T(-x) : x;
  else
    return detail::call_abs(x);
}
/// The smaller one; y where either is not a number.
template <class T>
LAMINA_INLINE LAMINA_FN T min(T x, T y) {
  if constexpr (is_plain<T>)
    return x < y ? x : y;
  else
    return detail::call_min(x, y);
}
/// The larger one; y where either is not a number.
template <class T>
LAMINA_INLINE LAMINA_FN T max(T x, T y) {
  if constexpr (is_plain<T>)
    return x > y ? x : y;
  else
    return detail::call_max(x, y);
}
/// `a` where the condition holds, else `b`; both are computed.
template <class C, class T>
LAMINA_INLINE LAMINA_FN T select(C condition, T a, T b) {
  if constexpr (is_plain<T>)
    return condition ? a : b;
  else
    return detail::call_select(condition, a, b);
}
/// Whether a condition holds, in any lane if it has lanes: a branch where all lanes agree.
template <class C>
LAMINA_INLINE LAMINA_FN bool any(C condition) {
  if constexpr (std::is_same_v<C, bool>)
    return condition;
  else
    return detail::call_any(condition);
}
/// Whether x, which is 1 or more, is infinite.
template <class T>
LAMINA_INLINE LAMINA_FN auto is_infinite(T x) {
  return x == x + x;
}
/// -1, 0 or 1.
template <class T>
LAMINA_INLINE LAMINA_FN T sign(T x) {
  return select(x > T(0), T(1), select(x < T(0), T(-1), T(0)));
}

}  // namespace lamina::math
