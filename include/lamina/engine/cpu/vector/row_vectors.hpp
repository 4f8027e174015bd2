// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/vector/row_vectors.hpp - loops over a row of floats with the widest vector that
// is not longer than the row.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/vector/simd.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// Loads a number or a vector from p; the type of the second argument selects which.
LAMINA_INLINE float load(const float* p, float) { return *p; }
LAMINA_INLINE double load(const double* p, double) { return *p; }
template <class A>
LAMINA_INLINE simd::batch<float, A> load(const float* p, simd::batch<float, A>) {
  return simd::batch<float, A>::load_unaligned(p);
}
template <class A>
LAMINA_INLINE simd::batch<double, A> load(const double* p, simd::batch<double, A>) {
  return simd::batch<double, A>::load_unaligned(p);
}
LAMINA_INLINE void store(float* p, float v) { *p = v; }
LAMINA_INLINE void store(double* p, double v) { *p = v; }
// Each overload fixes the element type: an overload for all types would be ambiguous with xsimd's
// `store`.
template <class A>
LAMINA_INLINE void store(float* p, simd::batch<float, A> v) {
  v.store_unaligned(p);
}
template <class A>
LAMINA_INLINE void store(double* p, simd::batch<double, A> v) {
  v.store_unaligned(p);
}

/// Calls f(v) with a value v of the widest vector type that has at most n lanes, where n is the
/// length of a row. Returns whether such a vector type exists.
template <class F>
LAMINA_INLINE bool with_row_vector(int n, F f) {
  if (n >= lanes) return f(vector()), true;
  if constexpr (lanes > 8)
    if (n >= 8) return f(vector_of<8>()), true;
  if constexpr (lanes > 4)
    if (n >= 4) return f(vector_of<4>()), true;
  return false;
}

/// Covers a row of n floats with vectors and calls f(j, like) for each, where j is its first
/// element; if n < 4, calls f for each single element. The last vector may overlap the previous
/// vector, so f must give the same result when it computes an element twice.
template <class F>
LAMINA_INLINE void for_each_row_vector(int n, F f) {
  const bool found = with_row_vector(
      n, [&](auto like) __attribute__((always_inline)) {
        constexpr int size = lanes_of<decltype(like)>;
        for (int next = 0; next < n; next += size) f(next + size <= n ? next : n - size, like);
      });
  for (int j = 0; !found && j < n; ++j) f(j, 0.F);
}

}}}  // namespace lamina::engine::cpu
