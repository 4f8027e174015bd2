// SPDX-License-Identifier: Apache-2.0
// lamina/operators/matrix/matmul/common.hpp - the layout of the matrices of a matmul in memory.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/common/array_layout.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// One operand of a matmul: the layout of its matrices in memory, and whether the product
/// transposes them.
struct matrix_side {
  int rows = 1, columns = 1;  // as stored
  bool transposed = false;
  int count = 1;   // number of matrices; 1: all products share one
  int in_row = 1;  // matrices per row of the array
  std::ptrdiff_t row_step = 0, step = 0, stride = 0;  // of array rows, matrices, rows

  matrix_side(const operand& o, bool transpose, bool left) {
    const array_layout a = layout_of(o);
    if (a.rank == 1) {
      // A vector is one row if it is the left operand, one column if it is the right operand.
      const int n = static_cast<int>(a.extent[0]);
      (left ? columns : rows) = n;
      stride = left ? n : a.step[0];
      return;
    }
    transposed = transpose;
    rows = static_cast<int>(a.extent[a.rank - 2]);
    columns = static_cast<int>(a.extent[a.rank - 1]);
    stride = a.step[a.rank - 2];
    if (a.rank == 2) return;
    for (int d = 1; d < a.rank - 2; ++d) in_row *= static_cast<int>(a.extent[d]);
    step = a.step[a.rank - 3];
    count = in_row * o.rows;
    row_step = o.stride;
    is_whole = !o.swapped && (o.rows <= 1 || o.stride == o.columns);
  }
  /// Height and width of a matrix after the optional transposition.
  int height() const { return transposed ? columns : rows; }
  int width() const { return transposed ? rows : columns; }
  /// Returns the offset of matrix i.
  std::ptrdiff_t at(int i) const {
    if (count == 1) return 0;
    return i / in_row * row_step + i % in_row * step;
  }
  bool is_whole = true;  // whether matrices follow each other without gaps
};

/// The sizes of a matmul: `count` products [m, k] x [k, n].
struct matmul_shape {
  matrix_side x, y;
  int count, m, k, n;
  int out_in_row;
  std::ptrdiff_t out_row_step, out_step, out_stride;

  matmul_shape(const operator_call& c, const operand& a, const operand& b, const operand& out)
      : x(a, c.flag(0), true),
        y(b, c.flag(1), false),
        count(x.count == 1 ? y.count : x.count),
        m(x.height()),
        k(x.width()),
        n(y.width()) {
    if (y.height() != k || (x.count != y.count && x.count != 1 && y.count != 1))
      fail(c, {"expected operands that fit, found ", x.count, " of [", m, ", ", k, "] and ",
               y.count, " of [", y.height(), ", ", n, "]"});
    const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(m) * n;
    const bool has_matrices = a.rank > 2 || b.rank > 2;
    out_stride = !has_matrices && out.rows == m ? out.stride : n;
    out_in_row = has_matrices && size > 0 ? static_cast<int>(out.columns / size) : 1;
    if (out_in_row < 1) out_in_row = 1;
    out_row_step = out.stride;
    out_step = size;
    if (out.swapped) {
      const array_layout l = layout_of(out);
      out_step = l.step[1];
      out_stride = l.step[2];
    }
    // If all products share one right matrix, the left matrices, one below the other, are
    // multiplied by it as one tall matrix.
    const bool out_is_whole = !out.swapped && (out.rows <= 1 || out.stride == out.columns);
    if (has_matrices && y.count == 1 && x.count > 1 && !x.transposed && x.is_whole &&
        out_is_whole) {
      m *= count;
      x.rows = m;
      count = x.count = 1;
    }
  }
  std::ptrdiff_t out_at(int i) const {
    return i / out_in_row * out_row_step + i % out_in_row * out_step;
  }
};

/// Returns the layout of the gradient of an operand: its matrices have the sizes of `side` and the
/// strides of `gradient`.
inline matrix_side side_like(const operand& gradient, const matrix_side& side, bool transpose,
                             bool left) {
  matrix_side g(gradient, transpose, left);
  if (side.count == 1) g.count = 1;
  return g;
}

}}}  // namespace lamina::engine
