// SPDX-License-Identifier: Apache-2.0
// lamina/core/simd/batch_functions.hpp - exponentials, logarithms, tanh and erf of SIMD batches.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/simd/batch_calls.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace math::detail {

// Returns (e^r - 1) / r for |r| up to half of log 2. With this quotient q, e^r = 1 + r q has a
// relative error below 1.1e-7.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T exp_quotient(T r) {
  T q = call_fma(T(8.31250399e-3f), r, T(4.18903297e-2f));
  q = call_fma(q, r, T(0.166671154f));
  q = call_fma(q, r, T(0.499992303f));
  return call_fma(q, r, T(1.f));
}
// Returns x - k log 2. log 2 is split into a sum of two constants; the larger constant has so few
// digits that its product with k is exact.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T without_powers(T x, T k) {
  return call_fma(k, T(2.12194440e-4f), call_fma(k, T(-0.693359375f), x));
}
// Returns x 2^k, computed with two factors, because 2^k may be outside the range of a float.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T times_any_power(T x, T k) {
  const auto whole = to_int(k);
  const auto half = whole >> 1;
  return ldexp(ldexp(x, half), whole - half);
}

// Returns e^x, computed as 2^k e^r, where k is the integer nearest to x / log 2. With the roundings
// of float the relative error is below 3e-7. For x below -104 the result is 0. With AVX-512's
// scalef, e^0 is computed there and then replaced by 0, because processors take a hundred times
// longer for a result that they round to 0. Otherwise x is limited to -176, where a factor of 2^k
// is 0.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T polynomial_exp(T x) {
  constexpr bool in_one = requires { times_power_of_two(x, x); };
  const auto is_far = x < T(-104.f);
  const T limited = call_min(T(89.f), x);
  T y;
  if constexpr (in_one)
    y = call_select(is_far, T(0.f), limited);
  else
    y = call_max(T(-176.f), limited);
  const T k = nearbyint(y * T(1.44269504f));
  const T r = without_powers(y, k);
  const T p = call_fma(exp_quotient(r), r, T(1.f));
  if constexpr (in_one)
    return call_select(is_far, T(0.f), times_power_of_two(p, k));
  else
    return times_any_power(p, k);
}
// Returns e^x for a smaller range of x, at less cost. At the ends of the range, k is 128 or -127,
// and the computed 2^k is infinite or 0.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T polynomial_exp_in_sum(T x) {
  const T y = call_max(T(-88.3f), call_min(T(89.f), x));
  const T k = nearbyint(y * T(1.44269504f));
  const T r = without_powers(y, k);
  return ldexp(T(call_fma(exp_quotient(r), r, T(1.f))), to_int(k));
}
// Returns e^x - 1, computed as 2^k (1 + r q) - 1 = 2^k r q + (2^k - 1), which loses no digits if k
// is 0. The code computes with 2^(k-1), because 2^k itself overflows at the upper end of the range.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T polynomial_expm1(T x) {
  const T y = call_max(T(-20.f), call_min(T(89.f), x));
  const T k = nearbyint(y * T(1.44269504f));
  const T r = without_powers(y, k);
  const T half = ldexp(T(1.f), to_int(T(k - T(1.f))));
  const T value = T(2.f) * call_fma(half, T(r * exp_quotient(r)), T(half - T(0.5f)));
  // Below 1e-7 the nearest float is x itself. There `value` may have too few correct digits or the
  // wrong sign.
  return call_select(call_abs(x) < T(1e-7f), x, value);
}
// Returns log(1 + e) for e from 0 to 1, by the series of 2 artanh(s) with s = e / (2 + e). The
// polynomial minimises the largest relative error, which is 6e-9.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T series_log1p(T e) {
  const T s = e / (T(2.f) + e);
  const T z = s * s;
  T p = call_fma(T(0.28172242f), z, T(0.2797406f));
  p = call_fma(p, z, T(0.40022809f));
  p = call_fma(p, z, T(0.66666403f));
  return call_fma(T(p * z), s, T(s + s));
}

// Returns 2^k for a batch of doubles k that are integers from -1022 to 1023. The sum of 1.5 * 2^52
// and k + 1023 is a double whose last bits are the integer k + 1023; a shift moves them to the
// exponent. (A conversion of doubles to integers would be slow, because xsimd 8 does it through
// memory.)
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
// Returns q = (e^r - 1) / r by its series. The last term of r q is below 5e-18.
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
// Returns x 2^k, computed with two factors, because 2^k may be outside the range of a double.
template <class T>
LAMINA_INLINE T times_two_powers(T x, T k) {
  const T half = nearbyint(k * T(0.5));
  return x * power_of_two(half) * power_of_two(T(k - half));
}
// Does the same as polynomial_exp for doubles. For x below -1418 both factors of 2^k are 0.
template <class T>
LAMINA_INLINE T series_exp(T x) {
  const T y = call_max(T(-1418.1), call_min(T(710.0), x));
  const T k = nearbyint(y * T(1.4426950408889634));
  const T r = without_powers_of_double(y, k);
  return times_two_powers(T(call_fma(series_exp_quotient(r), r, T(1.0))), k);
}
// Does the same as polynomial_expm1 for doubles.
template <class T>
LAMINA_INLINE T series_expm1(T x) {
  const T y = call_max(T(-40.0), call_min(T(710.0), x));
  const T k = nearbyint(y * T(1.4426950408889634));
  const T r = without_powers_of_double(y, k);
  const T half = power_of_two(T(k - T(1.0)));
  const T value = T(2.0) * call_fma(half, T(r * series_exp_quotient(r)), T(half - T(0.5)));
  return call_select(call_abs(x) < T(1e-16), x, value);
}
// Returns the logarithm of doubles. Subnormal numbers are first multiplied by 2^54, because xsimd 8
// computes wrong logarithms of them.
template <class T>
LAMINA_INLINE T double_log(T x) {
  const auto smaller = x < T(0x1p-1022);
  const T value = call_log(T(call_select(smaller, T(x * T(0x1p54)), x)));
  return value - call_select(smaller, T(37.429947750237048), T(0.0));
}
// Returns tanh(x) for doubles: x (1 + x^2 P(x^2) / Q(x^2)) for |x| below 0.625, with the
// polynomials P and Q of the Cephes library, else 1 - 2 / (e^(2x) + 1).
template <class T>
LAMINA_INLINE T double_tanh(T x) {
  const T t = x * x;
  T p = call_fma(T(-9.64399179425052238628e-1), t, T(-9.92877231001918586564e1));
  p = call_fma(p, t, T(-1.61468768441708447952e3));
  T q = t + T(1.12811678491632931402e2);
  q = call_fma(q, t, T(2.23548839060100448583e3));
  q = call_fma(q, t, T(4.84406305325125486048e3));
  const T size = call_abs(x);
  const T distant = T(1.0) - T(2.0) / (series_exp(T(size + size)) + T(1.0));
  return call_select(size < T(0.625), T(x * (T(1.0) + t * p / q)),
                     T(call_select(x < T(0.0), T(-distant), distant)));
}

// Returns x - tanh(x) for |x| below 0.625, by the polynomials of double_tanh.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T small_tanh_rest(T x) {
  const T t = x * x;
  T p = constant<T>(9.64399179425052238628e-1) * t + constant<T>(9.92877231001918786564e1);
  p = p * t + constant<T>(1.61468768441708447952e3);
  T q = t + constant<T>(1.12811678491631932402e2);
  q = q * t + constant<T>(2.23548839060100448583e3);
  q = q * t + constant<T>(4.84406305325125486048e3);
  return x * (t * p / q);
}

// Returns the error function of doubles. For |x| above 6 the nearest double is 1 or -1. For much
// larger |x| and for NaN, xsimd 8 would convert a number to an integer type whose range is too
// small. So x is limited and NaN is replaced before the call.
template <class T>
LAMINA_INLINE T double_erf(T x) {
  const T y = call_max(T(-6.0), call_min(T(6.0), T(call_select(x == x, x, T(0.0)))));
  return call_select(x == x, call_erf(y), x);
}

// Returns tanh(x), computed as y P(y^2) / Q(y^2), where y is x limited to [-9.01, 9.01]; for larger
// |x| the nearest float is 1 or -1. The cost is nine multiply-adds and one division. The
// polynomials minimise the largest relative error, 2e-8; with the roundings of float it is below
// 4e-7. NaN stays NaN, because min and max return their second operand, x, if x is NaN.
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

// Returns the error function as a quotient of polynomials in y, which is x limited to [-4.2, 4.2].
// The largest relative error of the polynomials is 6e-8. Near |x| = 4.2 the absolute value of the
// quotient is slightly above 1, so the result is limited to [-1, 1].
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

}}}  // namespace lamina::math::detail
