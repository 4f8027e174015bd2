// SPDX-License-Identifier: Apache-2.0
// lamina/core/math.hpp - the functions an operator's equation is written in.
// One equation serves float, double, a SIMD batch and, later, a CUDA thread: for arithmetic types
// these call the C library, for anything else the function found by argument-dependent look-up.
#pragma once

#include <cmath>
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
void erf();
void sqrt();
void sin();
void cos();
void asin();
void acos();
void atan();
void any();
void pow();
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

template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T call_log(T x) {
  return log(x);
}
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T call_erf(T x) {
  return erf(x);
}
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T call_sqrt(T x) {
  return sqrt(x);
}
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T call_sin(T x) {
  return sin(x);
}
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T call_cos(T x) {
  return cos(x);
}
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T call_asin(T x) {
  return asin(x);
}
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T call_acos(T x) {
  return acos(x);
}
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T call_atan(T x) {
  return atan(x);
}
template <class C>
LAMINA_INLINE LAMINA_NUMBER_FN bool call_any(C c) {
  return any(c);
}
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T call_pow(T x, T y) {
  return pow(x, y);
}
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T call_floor(T x) {
  return floor(x);
}
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T call_ceil(T x) {
  return ceil(x);
}
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T call_round(T x) {
  return round(x);
}
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T call_abs(T x) {
  return abs(x);
}
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T call_min(T x, T y) {
  return min(x, y);
}
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T call_max(T x, T y) {
  return max(x, y);
}
template <class C, class T>
LAMINA_INLINE LAMINA_NUMBER_FN T call_select(C c, T a, T b) {
  return select(c, a, b);
}
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T call_fma(T x, T y, T z) {
  return fma(x, y, z);
}

// 2^k e^r with k the whole number nearest to x / log 2, and a polynomial for e^r that minimises the
// largest relative error, 1.1e-7; with the roundings of float it is below 3e-7. Beyond the ends k
// is 128 or -127, whose power is infinite or 0. log 2 is subtracted in two parts, the first of
// which has so few digits that k times it is exact.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T polynomial_exp(T x) {
  const T y = call_max(T(-88.3f), call_min(T(89.f), x));
  const T k = nearbyint(y * T(1.44269504f));
  const T r = call_fma(k, T(2.12194440e-4f), call_fma(k, T(-0.693359375f), y));
  T p = call_fma(T(8.31250399e-3f), r, T(4.18903297e-2f));
  p = call_fma(p, r, T(0.166671154f));
  p = call_fma(p, r, T(0.499992303f));
  p = call_fma(p, r, T(1.f));
  p = call_fma(p, r, T(1.f));
  return ldexp(p, to_int(k));
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
// As polynomial_exp, with the series of e^r: its 14th term is below 5e-18. 2^k are two factors, for
// it may be more, or less, than a double holds.
template <class T>
LAMINA_INLINE T series_exp(T x) {
  const T y = call_max(T(-746.0), call_min(T(710.0), x));
  const T k = nearbyint(y * T(1.4426950408889634));
  const T r = call_fma(k, T(-1.9082149292705877e-10), call_fma(k, T(-0.69314718036912382), y));
  constexpr double factorials[] = {479001600, 39916800, 3628800, 362880, 40320, 5040, 720,
                                   120,       24,       6,       2,      1,     1};
  T p(1.0 / 6227020800);
  for (const double f : factorials) p = call_fma(p, r, T(1 / f));
  const T half = nearbyint(k * T(0.5));
  return p * power_of_two(half) * power_of_two(T(k - half));
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
LAMINA_INLINE LAMINA_NUMBER_FN T rational_tanh(T x) {
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
LAMINA_INLINE LAMINA_NUMBER_FN T rational_erf(T x) {
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

/// e^x; of a batch of floats with a relative error below 3e-7, infinite from 88.38 on and 0 below
/// -87.69; of doubles below 3e-16.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T exp(T x) {
  if constexpr (is_plain<T>)
    return std::exp(x);
  else if constexpr (is_batch_of_doubles<T>)
    return detail::series_exp(x);
  else
    return detail::polynomial_exp(x);
}
/// Natural logarithm.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T log(T x) {
  if constexpr (is_plain<T>)
    return std::log(x);
  else
    return detail::call_log(x);
}
/// Hyperbolic tangent; of a batch of floats with a relative error below 4e-7, of doubles below
/// 3e-16.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T tanh(T x) {
  if constexpr (is_plain<T>)
    return std::tanh(x);
  else if constexpr (is_batch_of_doubles<T>)
    return detail::double_tanh(x);
  else
    return detail::rational_tanh(x);
}
/// Square root.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T sqrt(T x) {
  if constexpr (is_plain<T>)
    return std::sqrt(x);
  else
    return detail::call_sqrt(x);
}
/// Sine of an angle in radians.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T sin(T x) {
  if constexpr (is_plain<T>)
    return std::sin(x);
  else
    return detail::call_sin(x);
}
/// Cosine of an angle in radians.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T cos(T x) {
  if constexpr (is_plain<T>)
    return std::cos(x);
  else
    return detail::call_cos(x);
}
/// Arc sine, in radians.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T asin(T x) {
  if constexpr (is_plain<T>)
    return std::asin(x);
  else
    return detail::call_asin(x);
}
/// Arc cosine, in radians.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T acos(T x) {
  if constexpr (is_plain<T>)
    return std::acos(x);
  else
    return detail::call_acos(x);
}
/// Arc tangent, in radians.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T atan(T x) {
  if constexpr (is_plain<T>)
    return std::atan(x);
  else
    return detail::call_atan(x);
}
/// Gauss error function 2/sqrt(pi) * integral of e^(-t^2) from 0 to x; of a batch of floats with a
/// relative error below 5e-7, of doubles below 1e-14.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T erf(T x) {
  if constexpr (is_plain<T>)
    return std::erf(x);
  else if constexpr (is_batch_of_doubles<T>)
    return detail::double_erf(x);
  else
    return detail::rational_erf(x);
}
/// x^y.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T pow(T x, T y) {
  if constexpr (is_plain<T>)
    return std::pow(x, y);
  else
    return detail::call_pow(x, y);
}
/// Largest whole number not above x.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T floor(T x) {
  if constexpr (is_plain<T>)
    return std::floor(x);
  else
    return detail::call_floor(x);
}
/// Smallest whole number not below x.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T ceil(T x) {
  if constexpr (is_plain<T>)
    return std::ceil(x);
  else
    return detail::call_ceil(x);
}
/// Nearest whole number, halves away from zero.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T round(T x) {
  if constexpr (is_plain<T>)
    return std::round(x);
  else
    return detail::call_round(x);
}
/// |x|.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T abs(T x) {
  if constexpr (is_plain<T>)
    return x < T(0) ? T(-x) : x;
  else
    return detail::call_abs(x);
}
/// The smaller one; y where either is not a number.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T min(T x, T y) {
  if constexpr (is_plain<T>)
    return x < y ? x : y;
  else
    return detail::call_min(x, y);
}
/// The larger one; y where either is not a number.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T max(T x, T y) {
  if constexpr (is_plain<T>)
    return x > y ? x : y;
  else
    return detail::call_max(x, y);
}
/// `a` where the condition holds, else `b`; both are computed.
template <class C, class T>
LAMINA_INLINE LAMINA_NUMBER_FN T select(C condition, T a, T b) {
  if constexpr (is_plain<T>)
    return condition ? a : b;
  else
    return detail::call_select(condition, a, b);
}
/// Whether a condition holds, in any lane if it has lanes: a branch where all lanes agree.
template <class C>
LAMINA_INLINE LAMINA_NUMBER_FN bool any(C condition) {
  if constexpr (std::is_same_v<C, bool>)
    return condition;
  else
    return detail::call_any(condition);
}
/// -1, 0 or 1; NaN of NaN.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T sign(T x) {
  return select(x > T(0), T(1), select(x < T(0), T(-1), T(x + T(0))));
}

}  // namespace lamina::math
