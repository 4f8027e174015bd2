// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/matmul_kernels.hpp - products of batches of matrices: matmul, and mul where it
// is no head of a group.
#pragma once

#include <lamina/engine/call/matmul_shape.hpp>
#include <lamina/engine/cuda/call_site.hpp>
#include <lamina/engine/cuda/divider.hpp>
#include <lamina/engine/cuda/tile_product.hpp>
#include <lamina/operators/matmul.hpp>
#include <lamina/operators/mul.hpp>

namespace lamina::engine::cuda {

namespace detail {

/// Matrices of one array: where the i-th begins. One serves all if `size` and `row_step` are 0.
struct matrix_list {
  divider in_row;
  std::ptrdiff_t row_step = 0, size = 0;

  matrix_list() = default;
  explicit matrix_list(const matrix_side& m)
      : in_row(m.in_row),
        row_step(m.count == 1 ? 0 : m.row_step),
        size(m.count == 1 ? 0 : m.step) {}
  LAMINA_INLINE LAMINA_FN std::ptrdiff_t at(int i) const {
    const int row = in_row.divide(i);
    return row * row_step + i * size;
  }
};

/// A side of products: element (line, term) of matrix i; `terms` a matrix, those of the next one
/// follow where a sum runs over several.
struct matmul_side {
  const float* data;
  matrix_list matrices;
  std::ptrdiff_t line_step, deep_step;
  int lines;
};

template <bool AlongDepth>
struct matmul_reader {
  static constexpr bool along_depth = AlongDepth;
  const matmul_side& side;
  divider terms;
  int matrix, depth;

  struct line_type {
    std::ptrdiff_t at;  // below zero: outside
  };
  using deep_type = line_type;
  LAMINA_INLINE LAMINA_FN line_type line(int i) const {
    return {i < side.lines ? i * side.line_step : -1};
  }
  LAMINA_INLINE LAMINA_FN deep_type deep(int k) const {
    if (k >= depth) return {-1};
    const int next = terms.divide(k);
    return {side.matrices.at(matrix + next) + k * side.deep_step};
  }
  LAMINA_INLINE LAMINA_FN float get(line_type l, deep_type d) const {
    return l.at >= 0 && d.at >= 0 ? side.data[l.at + d.at] : 0.0f;
  }
};

struct matmul_arguments {
  matmul_side left, right;  // rows and columns of the result
  float* to;
  matrix_list results;
  std::ptrdiff_t to_stride;
  divider terms;
  int count, depth;  // products; terms of a sum
  float alpha;
};

/// alpha * left * right for each of some matrices.
template <bool LeftAlong, bool RightAlong, class Shape>
struct matmul_body {
  using arguments = matmul_arguments;
  static constexpr int threads = Shape::threads;
  using shared = typename Shape::memory;
  static int teams(const arguments& g) { return g.count * across(g) * down(g); }

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, const Team& team, shared& s) {
    const int wide = across(g), high = down(g), all = g.count * wide * high;
    typename Shape::template share<Team> mine(team);
    for (int t = team.index; t < all; t += team.count) {
      const int matrix = t / (wide * high), in_matrix = t % (wide * high);
      const int row0 = in_matrix / wide * Shape::rows, column0 = in_matrix % wide * Shape::columns;
      mine.multiply(team, s, 0, g.depth, row0,
                    matmul_reader<LeftAlong>{g.left, g.terms, matrix, g.depth}, column0,
                    matmul_reader<RightAlong>{g.right, g.terms, matrix, g.depth});
      float* const to = g.to + g.results.at(matrix);
      mine.each(team, s, [&](int y, int x, const pack& sums) {
        const int row = row0 + y;
        LAMINA_CUDA_UNROLL
        for (int j = 0; j < pack_width; ++j)
          if (const int column = column0 + x + j; row < g.left.lines && column < g.right.lines)
            to[row * g.to_stride + column] = g.alpha * sums.v[j];
      });
    }
  }

 private:
  static LAMINA_FN int across(const arguments& g) {
    return (g.right.lines + Shape::columns - 1) / Shape::columns;
  }
  static LAMINA_FN int down(const arguments& g) {
    return (g.left.lines + Shape::rows - 1) / Shape::rows;
  }
};

/// Matrices of an array as they are read.
struct read_matrices {
  const float* data;
  matrix_list matrices;
  int rows, columns;
  std::ptrdiff_t row_step, column_step;

  read_matrices(const operand& o, const matrix_side& m)
      : read_matrices(o.row<const float>(0), matrix_list(m), m.height(), m.width(), m.stride,
                      m.transposed) {}
  read_matrices(const float* from, matrix_list list, int height, int width, std::ptrdiff_t stride,
                bool turned)
      : data(from),
        matrices(list),
        rows(height),
        columns(width),
        row_step(turned ? 1 : stride),
        column_step(turned ? stride : 1) {}
  read_matrices turned() const {
    read_matrices t = *this;
    t.rows = columns;
    t.columns = rows;
    t.row_step = column_step;
    t.column_step = row_step;
    return t;
  }
};

/// `to` = alpha * left * right: `count` products, each the sum of `pieces` of them.
template <class Backend>
void multiply(Backend& b, const read_matrices& left, const read_matrices& right, int count,
              int pieces, float alpha, float* to, const matrix_list& results,
              std::ptrdiff_t stride) {
  using shape = typename Backend::product_tile;
  const matmul_arguments g{
      {left.data, left.matrices, left.row_step, left.column_step, left.rows},
      {right.data, right.matrices, right.column_step, right.row_step, right.columns},
      to,
      results,
      stride,
      divider(left.columns),
      count,
      left.columns * pieces,
      alpha};
  const bool l = left.column_step == 1, r = right.column_step != 1;
  if (l && r)
    b.template teams<matmul_body<true, true, shape>>(g);
  else if (l)
    b.template teams<matmul_body<true, false, shape>>(g);
  else if (r)
    b.template teams<matmul_body<false, true, shape>>(g);
  else
    b.template teams<matmul_body<false, false, shape>>(g);
}

template <class Backend>
void run_matmul(Backend& b, const matmul_shape& s, const operand& x, const operand& y,
                const operand& out, float alpha) {
  matrix_list results;
  results.in_row = divider(s.out_in_row);
  results.row_step = s.out_row_step;
  results.size = s.out_step;
  multiply(b, read_matrices(x, s.x), read_matrices(y, s.y), s.count, 1, alpha, out.row<float>(0),
           results, s.out_stride);
}

/// dX and dY; the gradient of a matrix that served all is the sum over all.
template <class Backend>
void run_matmul_gradient(Backend& b, const matmul_shape& s, const operand& x, const operand& y,
                         const operand& slope, const operand& dx, const operand& dy, bool turn_x,
                         bool turn_y, float alpha) {
  matrix_list results;
  results.in_row = divider(s.out_in_row);
  results.row_step = s.out_row_step;
  results.size = s.out_step;
  const read_matrices d(slope.row<const float>(0), results, s.m, s.n, s.out_stride, false);
  const read_matrices left(x, s.x), right(y, s.y);
  const auto send = [&](const read_matrices& l, const read_matrices& r, const operand& to,
                        const matrix_side& side, bool turn, bool is_left) {
    const matrix_side at = side_like(to, side, turn, is_left);
    const bool shared = side.count == 1;
    multiply(b, l, r, shared ? 1 : s.count, shared ? s.count : 1, alpha, to.row<float>(0),
             matrix_list(at), at.stride);
  };
  if (dx && s.x.transposed) send(right, d.turned(), dx, s.x, turn_x, true);
  if (dx && !s.x.transposed) send(d, right.turned(), dx, s.x, turn_x, true);
  if (dy && s.y.transposed) send(d.turned(), left, dy, s.y, turn_y, false);
  if (dy && !s.y.transposed) send(left.turned(), d, dy, s.y, turn_y, false);
}

}  // namespace detail

template <>
struct call_kernel<matmul> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    const operand x = c.input(0), y = c.input(1), out = c.output(0);
    require_float(c, x);
    detail::run_matmul(b, matmul_shape(c, x, y, out), x, y, out, static_cast<float>(c.number(2)));
  }
};

template <>
struct call_kernel<gradient_of<matmul>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    const operand x = c.input(0), y = c.input(1), slope = c.input(2);
    detail::run_matmul_gradient(b, matmul_shape(c, x, y, slope), x, y, slope, c.output(0),
                                c.output(1), c.flag(0), c.flag(1), static_cast<float>(c.number(2)));
  }
};

namespace detail {

/// X or Out of a mul: with x_num_col_dims above 1 each row is several rows of the product.
struct mul_rows {
  operand array;
  int height, width;  // of each matrix
  int count = 1;      // of matrices
  matrix_list matrices;
  std::ptrdiff_t stride;

  mul_rows(const call_site& c, const operand& o, int columns)
      : array(o), height(o.rows), width(columns), stride(o.stride) {
    if (c.integer(0) <= 1) return;
    height = columns > 0 ? o.columns / columns : 0;
    count = o.rows;
    stride = columns;
    matrices.in_row = divider(1);
    matrices.row_step = o.stride;
  }
  read_matrices read() const {
    return {array.row<const float>(0), matrices, height, width, stride, false};
  }
};
/// Y of a mul, a matrix of rows.
inline operand mul_right(const call_site& c, const operand& y) {
  require_float(c, y);
  if (c.integer(1) > 1) fail(c, {"expected y_num_col_dims 1, found ", c.integer(1)});
  return y;
}
inline read_matrices mul_matrix(const operand& y) {
  return {y.row<const float>(0), {}, y.rows, y.columns, y.stride, false};
}

}  // namespace detail

template <>
struct call_kernel<mul> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    const operand y = detail::mul_right(c, c.input(1));
    const detail::mul_rows x(c, c.input(0), y.rows), out(c, c.output(0), y.columns);
    require_float(c, x.array);
    detail::multiply(b, x.read(), detail::mul_matrix(y), x.count, 1, 1, out.array.row<float>(0),
                     out.matrices, out.stride);
  }
};

template <>
struct call_kernel<gradient_of<mul>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    const operand y = detail::mul_right(c, c.input(1)), dx = c.output(0), dy = c.output(1);
    const detail::mul_rows x(c, c.input(0), y.rows), d(c, c.input(2), y.columns);
    if (dx) {
      const detail::mul_rows to(c, dx, y.rows);
      detail::multiply(b, d.read(), detail::mul_matrix(y).turned(), d.count, 1, 1, dx.row<float>(0),
                       to.matrices, to.stride);
    }
    if (dy)
      detail::multiply(b, x.read().turned(), d.read(), 1, x.count, 1, dy.row<float>(0), {},
                       dy.stride);
  }
};

}  // namespace lamina::engine::cuda
