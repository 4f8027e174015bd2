// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/vector/lane_order.hpp - splits two vectors into the elements at even and at odd
// positions, and merges them again; merges the begin of one vector with the end of another.
#pragma once

#include <lamina/core/config.hpp>

#include <utility>

#include <lamina/engine/cpu/vector/simd.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {
template <class V>
using lane_sequence = std::make_integer_sequence<int, lanes_of<V>>;

#if defined(__CUDACC__) && !defined(__clang__)
// nvcc cannot pass a parameter pack as arguments of a built-in function to the host compiler.
template <class V, int... Index>
V lanes_at(V a, V b, std::integer_sequence<int, Index...>) {
  typename V::value_type from[2 * lanes_of<V>], to[lanes_of<V>];
  a.store_unaligned(from);
  b.store_unaligned(from + lanes_of<V>);
  int n = 0;
  ((to[n++] = from[Index]), ...);
  return V::load_unaligned(to);
}
#else
template <class V, int... Index>
LAMINA_INLINE V lanes_at(V a, V b, std::integer_sequence<int, Index...>) {
  if constexpr (lanes_of<V> == 1)  // the data of a vector of one lane are a number
    return ((Index == 0 ? a : b), ...);
  else
    return V(__builtin_shufflevector(a.data, b.data, Index...));
}
#endif

template <int First, class V, int... Index>
LAMINA_INLINE V every_second(V a, V b, std::integer_sequence<int, Index...>) {
  return lanes_at(a, b, std::integer_sequence<int, (First + 2 * Index)...>{});
}
template <class V, int... Index>
LAMINA_INLINE V even_then_odd(V a, V b, std::integer_sequence<int, Index...>) {
  return lanes_at(
      a, b, std::integer_sequence<int, (2 * Index + (2 * Index >= lanes_of<V> ? 1 : 0))...>{});
}
template <int First, class V, int... Index>
LAMINA_INLINE V taken_in_turn(V a, V b, std::integer_sequence<int, Index...>) {
  return lanes_at(a, b,
                  std::integer_sequence<int, (First + Index / 2 + Index % 2 * lanes_of<V>)...>{});
}
}  // namespace detail

/// The elements of `a` followed by `b` at positions 0, 2, 4, ...
template <class V>
LAMINA_INLINE V even_lanes(V a, V b) {
  return detail::every_second<0>(a, b, detail::lane_sequence<V>{});
}
/// The elements of `a` followed by `b` at positions 1, 3, 5, ...
template <class V>
LAMINA_INLINE V odd_lanes(V a, V b) {
  return detail::every_second<1>(a, b, detail::lane_sequence<V>{});
}
/// The elements of `a` at even positions, then the elements of `b` at odd positions. With `b`
/// loaded one element earlier, the result is that of even_lanes(), but the load of `b` does not
/// read beyond the end of an array.
template <class V>
LAMINA_INLINE V even_and_odd_lanes(V a, V b) {
  return detail::even_then_odd(a, b, detail::lane_sequence<V>{});
}
/// The first half of the interleaved vectors a[0], b[0], a[1], b[1], ...
template <class V>
LAMINA_INLINE V first_in_turn(V a, V b) {
  return detail::taken_in_turn<0>(a, b, detail::lane_sequence<V>{});
}
/// The second half of the interleaved vectors; see first_in_turn.
template <class V>
LAMINA_INLINE V second_in_turn(V a, V b) {
  return detail::taken_in_turn<lanes_of<V> / 2>(a, b, detail::lane_sequence<V>{});
}

/// The first n elements of a, and the other elements of b.
template <class Real>
LAMINA_INLINE vector_in<Real> first_lanes(int n, vector_in<Real> a, vector_in<Real> b) {
  alignas(64) Real numbers[lanes_in<Real>];
  for (int l = 0; l < lanes_in<Real>; ++l) numbers[l] = static_cast<Real>(l);
  return simd::select(vector_in<Real>::load_aligned(numbers) < vector_in<Real>(Real(n)), a, b);
}

}}}  // namespace lamina::engine::cpu
