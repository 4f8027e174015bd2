// SPDX-License-Identifier: Apache-2.0
// lamina/layers/broadcast.hpp - NumPy's rule for operands of different shapes.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>
#include <lamina/layers/shape.hpp>
#include <lamina/operators/elementwise/binary/definition.hpp>
#include <lamina/operators/fill/definition.hpp>
#include <lamina/operators/shape/concat/layer_slice.hpp>
#include <lamina/operators/shape/reshape/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer::detail {

/// Returns the whole shape to which operands of the shapes x and y broadcast under NumPy's rule:
/// from the last dimension on, two extents are equal or one of them is 1, and a missing dimension
/// has extent 1. The rank is 0 if they do not broadcast, or if the rows would not come first.
constexpr extents broadcast_shape(const extents& x, const extents& y) {
  extents r{x.rank > y.rank ? x.rank : y.rank, {}};
  for (int i = 1; i <= r.rank; ++i) {
    const int a = i <= x.rank ? x.at[x.rank - i] : 1;
    const int b = i <= y.rank ? y.at[y.rank - i] : 1;
    if (a != b && a != 1 && b != 1) return {};
    if (i < r.rank && (a < 0 || b < 0)) return {};
    r.at[r.rank - i] = a == 1 ? b : a;
  }
  return r;
}

/// Extent `i` of `x` after dimensions of 1 in front have filled its rank up to that of `to`, or
/// after its first dimension of 1 has gone because it stands for the rows of `to`.
constexpr int aligned_extent(const extents& x, const extents& to, int i) {
  const int from = i + x.rank - to.rank;
  return from < 0 ? 1 : x.at[from];
}

template <extents To, int First, class V, int... Index>
constexpr auto broadcast_inner(V x, std::integer_sequence<int, Index...>) {
  // nvcc does not let the lambda read a local constant. reshape counts without the rows, expand
  // with them.
  const auto aligned = [x] {
    if constexpr (whole_shape<V>.rank == To.rank - First)
      return x;
    else
      return reshape<aligned_extent(whole_shape<V>, To, First + Index)...>(x);
  }();
  constexpr bool equal =
      ((aligned_extent(whole_shape<V>, To, First + Index) == To.at[First + Index]) && ...);
  if constexpr (equal)
    return aligned;
  else
    return expand<(aligned_extent(whole_shape<V>, To, First + Index) == To.at[First + Index]
                       ? 1
                       : To.at[First + Index])...>(aligned);
}

/// Repeats x to the shape To, to which it broadcasts. If To has rows and x has none, the result has
/// no rows either and the inner dimensions of To.
template <extents To, class V>
constexpr auto broadcast_to(V x) {
  constexpr int first = To.has_rows() && !whole_shape<V>.has_rows() ? 1 : 0;
  return broadcast_inner<To, first>(x, std::make_integer_sequence<int, To.rank - first>{});
}

/// Returns x, which has no rows, once for each row of `like`, which has the same inner dimensions.
template <class V, class Like>
constexpr Like in_each_row(V x, Like like) {
  const Like zeros = same_shape<operators::fill_zeros_like>(like, "fill_zeros_like", {});
  layer_helper layer(*x.builder, "elementwise_add");
  const int y = layer.output_like(zeros.id);
  x.builder->add_operator(schema_of<operators::elementwise_add>(), {zeros.id, x.id}, {y});
  return layer.returns(Like{x.builder, y});
}

/// The first element of each row of x, with as many inner dimensions of 1 as there are Ones.
template <class V, int... Inner, int... Ones>
constexpr auto first_elements(V x, std::integer_sequence<int, Inner...>,
                              std::integer_sequence<int, Ones...>) {
  return reshape<(Ones + 1 - Ones)...>(slice<along<Inner + 1, 0, 1>...>(x));
}

/// Returns x in the whole shape To, to which it broadcasts. If To has rows and x has none, the rows
/// are those of `like`.
template <extents To, class X, class Like>
constexpr auto repeated_rows(X x, Like like) {
  const auto wide = broadcast_to<To>(x);
  if constexpr (To.has_rows() && !whole_shape<X>.has_rows()) {
    const auto first =
        first_elements(like, std::make_integer_sequence<int, whole_shape<Like>.rank - 1>{},
                       std::make_integer_sequence<int, To.rank - 1>{});
    return in_each_row(wide, broadcast_to<To>(first));
  } else {
    return wide;
  }
}

/// Calls record(wide, narrow), where `wide` is x in the shape to which x and y broadcast, and
/// `narrow` is y in this shape or in that of one of its rows.
template <class X, class Y, class F>
constexpr auto with_broadcast(X x, Y y, F record) {
  constexpr extents to = broadcast_shape(whole_shape<X>, whole_shape<Y>);
  const auto narrow = broadcast_to<to>(y);
  const auto wide = broadcast_to<to>(x);
  if constexpr (to.has_rows() && !whole_shape<X>.has_rows())
    return record(in_each_row(wide, narrow), narrow);
  else
    return record(wide, narrow);
}

}}}  // namespace lamina::layer::detail
