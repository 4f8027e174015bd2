// SPDX-License-Identifier: Apache-2.0
// lamina/operators/matrix/mul/cuda.cuh - mul: products of variables that are flattened to matrices.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/cuda/body/small_product.cuh>
#include <lamina/engine/cuda/schedule/call_context.hpp>
#include <lamina/operators/matrix/matmul/cuda.cuh>
#include <lamina/operators/matrix/mul/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// X or Out of a mul as matrices. If x_num_col_dims is above 1, each row of the array holds several
/// matrix rows, and the padding after them separates the matrices.
struct mul_rows {
  operand array;
  int height, width;  // size of each matrix
  int count = 1;      // number of matrices
  matrix_list matrices;
  std::ptrdiff_t stride;

  mul_rows(const call_context& c, const operand& o, int columns)
      : array(o), height(o.rows), width(columns), stride(o.stride) {
    if (c.integer(0) <= 1) return;
    height = columns > 0 ? o.columns / columns : 0;
    count = o.rows;
    stride = columns;
    matrices = {1, o.stride, 0};
  }
  read_matrices read() const {
    return {array.row<const float>(0), matrices, height, width, stride, false};
  }
  written_matrices write() const { return {array.row<float>(0), matrices, stride}; }
};
/// Returns Y of a mul as a matrix. Fails if y_num_col_dims is above 1.
inline operand mul_right(const call_context& c, const operand& y) {
  require_float(c, y);
  if (c.integer(1) > 1) fail(c, {"expected y_num_col_dims 1, found ", c.integer(1)});
  return y;
}
inline read_matrices mul_matrix(const operand& y) {
  return {y.row<const float>(0), {}, y.rows, y.columns, y.stride, false};
}
/// Returns the gradient of Y, a sum of products of matrices.
inline product_sum mul_right_gradient(const call_context& c) {
  const operand y = c.input(1);
  const mul_rows x(c, c.input(0), y.rows), d(c, c.input(2), y.columns);
  return {x.read().turned(), d.read(), x.count};
}

}  // namespace detail

template <>
struct call_kernel<operators::mul> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand y = detail::mul_right(c, c.input(1));
    const detail::mul_rows x(c, c.input(0), y.rows), out(c, c.output(0), y.columns);
    require_float(c, x.array);
    detail::multiply(b, x.read(), detail::mul_matrix(y), out.write(), x.count, 1, c.run.scratch);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context&) {
    return Backend::product_workspace;
  }
};

template <>
struct call_kernel<gradient_of<operators::mul>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand y = detail::mul_right(c, c.input(1)), dx = c.output(0), dy = c.output(1);
    const detail::mul_rows d(c, c.input(2), y.columns);
    if (dx) {
      const detail::mul_rows to(c, dx, y.rows);
      detail::multiply(b, d.read(), detail::mul_matrix(y).turned(), to.write(), d.count, 1,
                       c.run.scratch);
    }
    if (dy) detail::mul_right_gradient(c).run(b, dy.row<float>(0), dy.stride, 1, c.run.scratch);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return c.output(1) ? detail::mul_right_gradient(c).scratch<Backend>()
                       : Backend::product_workspace;
  }
};

}}}  // namespace lamina::engine::cuda
