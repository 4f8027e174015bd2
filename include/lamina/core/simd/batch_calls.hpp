// SPDX-License-Identifier: Apache-2.0
// lamina/core/simd/batch_calls.hpp - the basis of core/numbers/math.hpp: distinguishes plain
// numbers from SIMD batches, and calls functions of xsimd by argument-dependent lookup.
#pragma once

#include <lamina/core/config.hpp>

#include <type_traits>

namespace lamina { inline namespace LAMINA_ABI { namespace math {

/// Whether T is a plain number and not a SIMD batch.
template <class T>
inline constexpr bool is_plain = std::is_arithmetic_v<T>;
/// Whether T is a SIMD batch of doubles, for which core/numbers/math.hpp needs more exact functions
/// than for floats.
template <class T>
inline constexpr bool is_batch_of_doubles = false;
template <class T>
requires std::is_same_v<typename T::value_type, double>
inline constexpr bool is_batch_of_doubles<T> = true;
/// Returns `x` as a value of type T, which is a plain number or a SIMD batch.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T constant(double x) {
  if constexpr (is_plain<T>)
    return static_cast<T>(x);
  else
    return T(static_cast<typename T::value_type>(x));
}

namespace detail {
// Declares the names, so that the calls below parse as function calls. Argument-dependent lookup
// then finds xsimd's functions.
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
void min LAMINA_NO_MACRO();
void max LAMINA_NO_MACRO();
void select();
void fma();
void nearbyint();
void to_int();
void ldexp();
void copysign();
void times_power_of_two();

template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T call_log(T x) {
  return log(x);
}
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T call_log1p(T x) {
  return log1p(x);
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
// Without SSE4.1, there is no rounding instruction, and xsimd's floor returns 0 instead of -0.
// copysign corrects the sign.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T call_floor(T x) {
#if defined(__SSE2__) && !defined(__SSE4_1__)
  return copysign(floor(x), x);
#else
  return floor(x);
#endif
}
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T call_ceil(T x) {
#if defined(__SSE2__) && !defined(__SSE4_1__)
  return copysign(ceil(x), x);
#else
  return ceil(x);
#endif
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
  return min LAMINA_NO_MACRO(x, y);
}
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T call_max(T x, T y) {
  return max LAMINA_NO_MACRO(x, y);
}
template <class C, class T>
LAMINA_INLINE LAMINA_NUMBER_FN T call_select(C c, T a, T b) {
  return select(c, a, b);
}
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T call_fma(T x, T y, T z) {
  return fma(x, y, z);
}

}  // namespace detail
}}}  // namespace lamina::math
