// SPDX-License-Identifier: Apache-2.0
// lamina/layers/shape.hpp - whole shapes as values, and the handle types of such shapes. A whole
// shape counts dimensions as Fluid does: if a variable has rows, dimension 0 is the number of rows,
// given as -1.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/program/block.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// A whole shape. If the first dimension is -1, it is a number of rows that is known only at run
/// time.
struct extents {
  static constexpr int most = 8;
  int rank;
  int at[most];

  constexpr bool operator==(const extents&) const = default;
  /// Whether the first dimension is a number of rows.
  constexpr bool has_rows() const { return rank > 0 && at[0] < 0; }
  /// Appends a dimension.
  constexpr void push(int extent) {
    if (rank < most) at[rank++] = extent;
  }
  /// Returns the product of the dimensions [begin, end); it is negative if the number of rows is
  /// among them.
  constexpr int product(int begin, int end) const {
    int size = 1;
    for (int i = begin; i < end; ++i) size *= at[i];
    return size;
  }
};

namespace detail {
// This is a loop and not a pack in braces, because nvcc drops a pack inside of nested braces.
template <class T, class R, int... D>
constexpr extents extents_of(const variable<T, R, D...>*) {
  const int inner[] = {D..., 0};
  extents whole{};
  if constexpr (has_rows<R>) whole.push(-1);
  for (int i = 0; i < static_cast<int>(sizeof...(D)); ++i) whole.push(inner[i]);
  return whole;
}
template <bool HasRows, class R>
struct rows_or_once {
  using type = R;
};
template <class R>
struct rows_or_once<false, R> {
  using type = once;
};
template <class T, class R, extents E, int... Index>
auto handle(std::integer_sequence<int, Index...>)
    -> variable<T, R, E.at[static_cast<int>(E.has_rows()) + Index]...>;
}  // namespace detail

/// The whole shape of a handle type.
template <class V>
inline constexpr extents whole_shape = detail::extents_of(static_cast<const V*>(nullptr));

namespace detail {
// The type is computed in a class, because g++ 12 crashes if the alias handle_of computes it.
template <class T, class R, extents E>
struct handle_type {
  using rows = typename rows_or_once<E.has_rows(), R>::type;
  using inner = std::make_integer_sequence<int, E.rank - static_cast<int>(E.has_rows())>;
  using type = decltype(handle<T, rows, E>(inner{}));
};
}  // namespace detail

/// The handle type with elements T and the whole shape E. Its rows are R, or `once` if the shape
/// has no number of rows.
template <class T, class R, extents E>
using handle_of = typename detail::handle_type<T, R, E>::type;

/// Returns the dimension that `axis` selects; an axis of -1 is the last dimension. Returns -1 if
/// there is no such dimension.
constexpr int dimension(int axis, int rank) {
  const int from_front = axis < 0 ? axis + rank : axis;
  return from_front >= 0 && from_front < rank ? from_front : -1;
}

/// Returns the whole shape without dimension `axis`; [1] if this is the only dimension, as in
/// Fluid.
constexpr extents without_dimension(const extents& x, int axis) {
  extents r{};
  for (int i = 0; i < x.rank; ++i)
    if (i != axis) r.push(x.at[i]);
  if (r.rank == 0) r.push(1);
  return r;
}

}}}  // namespace lamina::layer
