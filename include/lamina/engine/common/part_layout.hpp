// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/part_layout.hpp - offsets and strides of the array parts that operators
// concatenate, slice, pad, repeat or transpose.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>

#include <lamina/engine/common/array_layout.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// A part of an array: the offset of its first element and its stride per dimension, both in
/// elements.
struct array_part {
  void* data;
  std::ptrdiff_t offset;
  const std::ptrdiff_t* step;
};

/// Returns the layout `a` of an input of the operator stack, with an additional dimension of extent
/// 1 at `axis`. With it, the input has the rank of Y and is one part of Y.
inline array_layout unsqueezed(const array_layout& a, int axis) {
  array_layout l;
  for (int d = 0; d <= a.rank; ++d) {
    if (d == axis) l.push(1, 0);
    if (d < a.rank) l.push(a.extent[d], a.step[d]);
  }
  return l;
}

/// Returns the offset, in elements, at which the result of the operator slice starts in its input;
/// `x` is the layout of the input.
inline std::ptrdiff_t slice_begin(const operator_call& c, const array_layout& x) {
  std::ptrdiff_t at = 0;
  for (int i = 0; i < c.list_size(0); ++i) {
    const int d = dimension_of(c, c.integer_at(0, i), x.rank);
    const std::ptrdiff_t n = x.extent[d];
    std::ptrdiff_t start = c.integer_at(1, i);
    start = start < 0 ? std::max<std::ptrdiff_t>(start + n, 0) : (std::min)(start, n);
    at += start * x.step[d];
  }
  return at;
}
/// Returns the offset, in elements, at which the result of the operator crop, with layout `y`,
/// starts in X. Throws lamina::error if the result does not lie within X.
inline std::ptrdiff_t crop_begin(const operator_call& c, const array_layout& x,
                                 const array_layout& y) {
  if (c.list_size(0) != x.rank) fail(c, {"expected ", x.rank, " offsets, found ", c.list_size(0)});
  std::ptrdiff_t at = 0;
  for (int d = 0; d < x.rank; ++d) {
    const int begin = c.integer_at(0, d);
    if (begin < 0 || begin + y.extent[d] > x.extent[d])
      fail(c, {"expected a box inside of ", x.extent[d], " elements along dimension ", d,
               ", found ", y.extent[d], " from ", begin, " on"});
    at += begin * x.step[d];
  }
  return at;
}
/// Returns the offset, in elements, at which X starts in the padded result of the operator pad; `y`
/// is the layout of the result.
inline std::ptrdiff_t pad_begin(const operator_call& c, const array_layout& y) {
  if (c.list_size(0) != 2 * y.rank)
    fail(c, {"expected ", 2 * y.rank, " paddings, found ", c.list_size(0)});
  std::ptrdiff_t at = 0;
  for (int d = 0; d < y.rank; ++d) at += c.integer_at(0, 2 * d) * y.step[d];
  return at;
}

/// The loops of the operator expand. Every dimension becomes two loops: one over the copies of X
/// along the dimension, and one over the elements of one copy.
struct expanded_layout {
  int rank = 0;
  std::ptrdiff_t extent[2 * array_layout::most], x[2 * array_layout::most],
      y[2 * array_layout::most];

  expanded_layout(const operator_call& c, const array_layout& from, const array_layout& to) {
    if (c.list_size(0) != from.rank)
      fail(c, {"expected ", from.rank, " counts, found ", c.list_size(0)});
    for (int d = 0; d < from.rank; ++d) {
      push(c.integer_at(0, d), 0, from.extent[d] * to.step[d]);
      push(from.extent[d], from.step[d], to.step[d]);
    }
  }

 private:
  void push(std::ptrdiff_t n, std::ptrdiff_t in_x, std::ptrdiff_t in_y) {
    extent[rank] = n;
    x[rank] = in_x;
    y[rank++] = in_y;
  }
};

/// The strides of the operator transpose: step[k] is the stride in X along dimension k of the
/// result. With `back`, for the gradient: step[d] is the stride in `x` (the gradient of the result)
/// along dimension d of X.
struct turned_steps {
  std::ptrdiff_t step[array_layout::most] = {};

  turned_steps(const operator_call& c, const array_layout& x, int rank, bool back) {
    if (c.list_size(0) != rank) fail(c, {"expected ", rank, " axes, found ", c.list_size(0)});
    for (int k = 0; k < rank; ++k) {
      const int axis = dimension_of(c, c.integer_at(0, k), rank);
      if (back)
        step[axis] = x.step[k];
      else
        step[k] = x.step[axis];
    }
  }
};

}}}  // namespace lamina::engine
