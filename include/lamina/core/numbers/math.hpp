// SPDX-License-Identifier: Apache-2.0
// lamina/core/numbers/math.hpp - the functions that operators' equations use. An operator's
// equation is written once and computes with a float, a double or a SIMD batch, on the CPU or in a
// CUDA thread. For arithmetic types these functions call the C library, for SIMD batches xsimd or
// core/simd/batch_functions.hpp.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>

#include <lamina/core/simd/batch_functions.hpp>
#include <lamina/core/simd/batch_pow.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace math {

/// Returns e^x. The relative error is below 3e-7 for a batch of floats, and below 3e-16 for
/// doubles.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T exp(T x) {
  if constexpr (is_plain<T>)
    return std::exp(x);
  else if constexpr (is_batch_of_doubles<T>)
    return detail::series_exp(x);
  else
    return detail::polynomial_exp(x);
}
/// Returns e^x for use in sums with a term of at least 1. For a batch of floats it is faster than
/// exp, but may be infinite for x from 88.37 on and 0 for x below -87.68.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T exp_in_sum(T x) {
  if constexpr (is_plain<T> || is_batch_of_doubles<T>)
    return math::exp(x);
  else
    return detail::polynomial_exp_in_sum(x);
}
/// Returns e^x - 1 without loss of digits for small x.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T expm1(T x) {
  if constexpr (is_plain<T>)
    return std::expm1(x);
  else if constexpr (is_batch_of_doubles<T>)
    return detail::series_expm1(x);
  else
    return detail::polynomial_expm1(x);
}
/// Returns log(1 + e^x) without loss of digits for small e^x.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T log1p_exp(T x) {
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
/// Returns the natural logarithm of x.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T log(T x) {
  if constexpr (is_plain<T>)
    return std::log(x);
  else if constexpr (is_batch_of_doubles<T>)
    return detail::double_log(x);
  else
    return detail::call_log(x);
}
/// Returns the hyperbolic tangent of x. The relative error is below 4e-7 for a batch of floats, and
/// below 3e-16 for doubles.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T tanh(T x) {
  if constexpr (is_plain<T>)
    return std::tanh(x);
  else if constexpr (is_batch_of_doubles<T>)
    return detail::double_tanh(x);
  else
    return detail::rational_tanh(x);
}
/// Returns x - tanh(x) without loss of digits for small x.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T tanh_rest(T x) {
  if constexpr (is_plain<T>) {
    return std::abs(x) < T(0.625) ? detail::small_tanh_rest(x) : x - std::tanh(x);
  } else {
    return detail::call_select(detail::call_abs(x) < T(0.625), detail::small_tanh_rest(x),
                               T(x - math::tanh(x)));
  }
}
/// Returns the square root of x.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T sqrt(T x) {
  if constexpr (is_plain<T>)
    return std::sqrt(x);
  else
    return detail::call_sqrt(x);
}
/// Returns the sine of an angle in radians.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T sin(T x) {
  if constexpr (is_plain<T>)
    return std::sin(x);
  else
    return detail::call_sin(x);
}
/// Returns the cosine of an angle in radians.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T cos(T x) {
  if constexpr (is_plain<T>)
    return std::cos(x);
  else
    return detail::call_cos(x);
}
/// Returns the arc sine of x in radians.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T asin(T x) {
  if constexpr (is_plain<T>)
    return std::asin(x);
  else
    return detail::call_asin(x);
}
/// Returns the arc cosine of x in radians.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T acos(T x) {
  if constexpr (is_plain<T>)
    return std::acos(x);
  else
    return detail::call_acos(x);
}
/// Returns the arc tangent of x in radians.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T atan(T x) {
  if constexpr (is_plain<T>)
    return std::atan(x);
  else
    return detail::call_atan(x);
}
/// Returns the Gauss error function of x: 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x.
/// The relative error is below 5e-7 for a batch of floats, and below 1e-14 for doubles.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T erf(T x) {
  if constexpr (is_plain<T>)
    return std::erf(x);
  else if constexpr (is_batch_of_doubles<T>)
    return detail::double_erf(x);
  else
    return detail::rational_erf(x);
}
/// Returns x^y as IEEE 754 defines it. For a batch of floats, the relative error is below 1e-6
/// where |y log x| is below 10, and below 1e-5 elsewhere.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T pow(T x, T y) {
  if constexpr (is_plain<T>)
    return std::pow(x, y);
  else
    return detail::ieee_pow(x, y);
}
/// Returns the largest integer not above x.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T floor(T x) {
  if constexpr (is_plain<T>)
    return std::floor(x);
  else
    return detail::call_floor(x);
}
/// Returns the smallest integer not below x.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T ceil(T x) {
  if constexpr (is_plain<T>)
    return std::ceil(x);
  else
    return detail::call_ceil(x);
}
/// Returns the integer nearest to x; halves are rounded away from zero.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T round(T x) {
  if constexpr (is_plain<T>)
    return std::round(x);
  else
    return detail::call_round(x);
}
/// Returns |x|.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T abs(T x) {
  if constexpr (is_plain<T>)
    return x < T(0) ? T(-x) : x;
  else
    return detail::call_abs(x);
}
/// Returns the smaller of x and y; y if either is NaN.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T min LAMINA_NO_MACRO(T x, T y) {
  if constexpr (is_plain<T>)
    return x < y ? x : y;
  else
    return detail::call_min(x, y);
}
/// Returns the larger of x and y; y if either is NaN.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T max LAMINA_NO_MACRO(T x, T y) {
  if constexpr (is_plain<T>)
    return x > y ? x : y;
  else
    return detail::call_max(x, y);
}
/// Returns `a` where the condition is true, else `b`. Both values are computed.
template <class C, class T>
LAMINA_INLINE LAMINA_NUMBER_FN T select(C condition, T a, T b) {
  if constexpr (is_plain<T>)
    return condition ? a : b;
  else
    return detail::call_select(condition, a, b);
}
/// Returns x, but 1 where x is 0. Use it for a quotient y / x in which y is 0 wherever x is 0, as
/// with x = sqrt(mean(y^2)): the quotient is then 0 instead of NaN.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T as_divisor(T x) {
  return select(x == T(0), T(1), x);
}
/// Returns p * x, but 0 where the probability p is 0, even if x is infinite or NaN. Use it if x is
/// computed from log p or its derivative, which are infinite at p = 0.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T multiply_no_nan(T p, T x) {
  return select(p == T(0), T(0), T(p * x));
}
/// Whether x != y, as IEEE 754 defines it: NaN differs from everything, including itself. Compares
/// with ==, because in xsimd before 9.0 NaN != x is false on AVX and AVX-512 (xtensor-stack/xsimd
/// 805).
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN auto differs(T x, T y) {
  if constexpr (is_plain<T>)
    return x != y;
  else
    return !(x == y);
}
/// Whether x is NaN.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN auto is_nan(T x) {
  return differs(x, x);
}
/// Whether a condition is true; for a batch, whether it is true in at least one lane. Use it for a
/// branch on a condition that is equal in all lanes, such as a condition on an attribute.
template <class C>
LAMINA_INLINE LAMINA_NUMBER_FN bool any(C condition) {
  if constexpr (std::is_same_v<C, bool>)
    return condition;
  else
    return detail::call_any(condition);
}
/// Whether x, which must be at least 1, is infinite.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN auto is_infinite(T x) {
  return x == x + x;
}
/// Returns the sign of x: -1, 0 or 1; NaN for NaN.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T sign(T x) {
  return select(x > T(0), T(1), select(x < T(0), T(-1), T(x + T(0))));
}

}}}  // namespace lamina::math
