// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/array_layout.hpp - extents and strides of all dimensions of an operand, and
// nested loops over several arrays at once.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/common/call_error.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// The extent and the stride (`step`, in elements) of every dimension of an array. Rows may be
/// padded; the elements inside a row are contiguous.
struct array_layout {
  static constexpr int most = 12;
  int rank = 0;
  std::ptrdiff_t extent[most];
  std::ptrdiff_t step[most];

  void push(std::ptrdiff_t n, std::ptrdiff_t s) {
    extent[rank] = n;
    step[rank++] = s;
  }
  std::ptrdiff_t size() const {
    std::ptrdiff_t n = 1;
    for (int d = 0; d < rank; ++d) n *= extent[d];
    return n;
  }
};

/// Returns the layout of an operand. A copy of a matrix that the plan inserted has no shape in the
/// program (rank 0), so its layout has two dimensions: its rows and its columns.
inline array_layout layout_of(const operand& o) {
  array_layout l;
  if (o.rank == 0) {
    l.push(o.rows, o.stride);
    l.push(o.columns, 1);
    return l;
  }
  l.rank = o.rank;
  std::ptrdiff_t step = 1;
  for (int d = o.rank; d-- > 0; step *= l.extent[d]) {
    l.extent[d] = o.dims[d];
    l.step[d] = step;
  }
  if (o.rank > 1 || o.dims[0] < 0) {
    l.extent[0] = o.rows;
    l.step[0] = o.stride;
  }
  if (o.swapped) {
    l.step[1] = l.extent[3];
    l.step[2] = l.extent[1] * l.extent[3];
  }
  return l;
}

/// Returns the dimension that `axis` selects; -1 is the last dimension. Throws lamina::error if the
/// array has no such dimension.
inline int dimension_of(const operator_call& c, int axis, int rank) {
  const int d = axis < 0 ? axis + rank : axis;
  if (d < 0 || d >= rank)
    fail(c, {"expected an axis from ", -rank, " to ", rank - 1, ", found ", axis});
  return d;
}

/// The lines of an array along one dimension. A line has `n` elements, one per index of that
/// dimension; element k is `step * k` elements after the first element of the line. There is a line
/// for each row, each o < `outer` and each i < `inner`; its first element is at the offset row *
/// row_step + o * outer_step + i.
struct line_layout {
  int rows = 1, outer = 1, n = 1, inner = 1;
  std::ptrdiff_t row_step = 0, outer_step = 0, step = 1;

  line_layout(const array_layout& a, int axis) : n(static_cast<int>(a.extent[axis])) {
    for (int d = axis + 1; d < a.rank; ++d) inner *= static_cast<int>(a.extent[d]);
    step = a.step[axis];
    if (axis == 0) return;
    rows = static_cast<int>(a.extent[0]);
    row_step = a.step[0];
    for (int d = 1; d < axis; ++d) outer *= static_cast<int>(a.extent[d]);
    outer_step = static_cast<std::ptrdiff_t>(n) * inner;
  }
  /// The offset at which the `inner` lines of a row begin, at index `o` of the outer dimensions.
  LAMINA_INLINE LAMINA_FN std::ptrdiff_t at(int row, int o) const {
    return row * row_step + o * outer_step;
  }
  /// The number of lines.
  std::ptrdiff_t lines() const { return static_cast<std::ptrdiff_t>(rows) * outer * inner; }
};

/// The lines along the last dimension of an operand. A line has `n` contiguous elements; each row
/// has `outer` = columns / n lines.
struct row_lines {
  int rows, outer, n;

  explicit row_lines(const operand& o) : rows(o.rows), outer(1), n(o.columns) {
    if (o.rank < 2 || o.columns == 0) return;
    if (o.rank > 2) n = o.dims[o.rank - 1];
    outer = o.columns / n;
  }
};

/// Nested loops over K arrays of the same shape. Each array has its own strides (`step`); along a
/// dimension with a stride of 0, every iteration reads the same element. Adjacent dimensions that
/// are contiguous in all arrays are merged into one loop.
template <int K>
struct loop_nest {
  static constexpr int most = 24;
  int rank = 0;
  bool is_empty = false;
  std::ptrdiff_t extent[most];
  std::ptrdiff_t step[bound(K)][bound(most)];

  /// Adds an innermost loop over `n` elements, with one stride per array.
  template <class... S>
  void add(std::ptrdiff_t n, S... steps) {
    const std::ptrdiff_t s[bound(K)] = {steps...};
    add_all(n, s);
  }
  void add_all(std::ptrdiff_t n, const std::ptrdiff_t* s) {
    is_empty = is_empty || n == 0;
    if (n == 1) return;
    bool merges = rank > 0;
    for (int k = 0; merges && k < K; ++k) merges = step[k][rank - 1] == n * s[k];
    if (!merges) extent[rank++] = 1;
    extent[rank - 1] *= n;
    for (int k = 0; k < K; ++k) step[k][rank - 1] = s[k];
  }

  /// The stride of array k in the innermost loop.
  std::ptrdiff_t inner_step(int k) const { return rank == 0 ? 0 : step[k][rank - 1]; }

  /// Runs all loops except the innermost one. For each innermost loop, calls f(offsets, count):
  /// `offsets[k]` is the offset of the first element in array k, and `count` is the number of
  /// iterations that f must run.
  template <class F>
  void run(F&& f) const {
    if (is_empty) return;
    std::ptrdiff_t at[bound(K)] = {};
    if (rank == 0) {
      f(static_cast<const std::ptrdiff_t*>(at), std::ptrdiff_t{1});
      return;
    }
    std::ptrdiff_t index[most] = {};
    for (;;) {
      f(static_cast<const std::ptrdiff_t*>(at), extent[rank - 1]);
      int d = rank - 2;
      for (; d >= 0; --d) {
        for (int k = 0; k < K; ++k) at[k] += step[k][d];
        if (++index[d] < extent[d]) break;
        for (int k = 0; k < K; ++k) at[k] -= step[k][d] * extent[d];
        index[d] = 0;
      }
      if (d < 0) return;
    }
  }
};

}}}  // namespace lamina::engine
