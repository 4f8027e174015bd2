// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/lane_order.hpp - the elements at even and at odd places of two vectors, and
// back.
#pragma once

#include <utility>

#include <lamina/engine/cpu/simd.hpp>

namespace lamina::engine::cpu {

namespace detail {
using lane_sequence = std::make_integer_sequence<int, lanes>;

template <int First, int... I>
LAMINA_INLINE vector every_second(vector a, vector b, std::integer_sequence<int, I...>) {
  return vector(__builtin_shufflevector(a.data, b.data, (First + 2 * I)...));
}
template <int... I>
LAMINA_INLINE vector even_then_odd(vector a, vector b, std::integer_sequence<int, I...>) {
  return vector(__builtin_shufflevector(a.data, b.data, (2 * I + (2 * I >= lanes ? 1 : 0))...));
}
template <int First, int... I>
LAMINA_INLINE vector taken_in_turn(vector a, vector b, std::integer_sequence<int, I...>) {
  return vector(__builtin_shufflevector(a.data, b.data, (First + I / 2 + I % 2 * lanes)...));
}
}  // namespace detail

/// Of the elements of `a` and then `b`, those at places 0, 2, 4, ...
LAMINA_INLINE vector even_lanes(vector a, vector b) {
  return detail::every_second<0>(a, b, detail::lane_sequence{});
}
/// Those at places 1, 3, 5, ...
LAMINA_INLINE vector odd_lanes(vector a, vector b) {
  return detail::every_second<1>(a, b, detail::lane_sequence{});
}
/// Those at even places of `a`, then those at odd places of `b`: where b ends with the last element
/// that counts, nothing behind it is read.
LAMINA_INLINE vector even_and_odd_lanes(vector a, vector b) {
  return detail::even_then_odd(a, b, detail::lane_sequence{});
}
/// a[0], b[0], a[1], b[1], ...: the first vector of them.
LAMINA_INLINE vector first_in_turn(vector a, vector b) {
  return detail::taken_in_turn<0>(a, b, detail::lane_sequence{});
}
/// The second one.
LAMINA_INLINE vector second_in_turn(vector a, vector b) {
  return detail::taken_in_turn<lanes / 2>(a, b, detail::lane_sequence{});
}

}  // namespace lamina::engine::cpu
