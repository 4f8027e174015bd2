// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/collect_kernels.hpp - gradients of weights of a loop, and weights that a loop
// needs turned.
#pragma once

#include <lamina/engine/cuda/part_copy.hpp>
#include <lamina/engine/cuda/split_product.hpp>
#include <lamina/plan/plan_operators.hpp>

namespace lamina::engine::cuda {

/// Sum += X^T dOut in each iteration: the terms are added in the order of the iterations. A row
/// loop calls it once, with the rows of all iterations.
template <>
struct call_kernel<collect_product> {
  using to_sum = expression::statements<
      expression::let<elementwise_add, 0, 2, expression::head_value, expression::load<2>>>;
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    using body = product_body<group_head::gemm_dw, to_sum, typename Backend::product_tile>;
    const operand x = c.input(0), dy = c.input(1), sum = c.input(2);
    if (x.rows <= 0) return;
    typename body::arguments g{};
    g.of[0] = static_cast<float*>(x.data);
    g.of[1] = static_cast<float*>(dy.data);
    g.of[2] = static_cast<float*>(sum.data);
    g.rows = sum.rows;
    g.columns = sum.columns;
    g.width = padded(sum.columns);
    g.depth = x.rows;
    g.left_stride = x.stride;
    g.right_stride = dy.stride;
    g.channels = 1;
    detail::run_in_parts<group_head::gemm_dw, to_sum>(b, g, c.run.scratch);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_site& c) {
    const operand x = c.input(0), sum = c.input(2);
    return product_split<typename Backend::product_tile>::scratch(sum.rows, padded(sum.columns),
                                                                  x.rows);
  }
};
template <>
struct call_kernel<collected_product> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend&, const call_site&) {}
};

template <>
struct call_kernel<transposed_panels> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    const operand from = c.input(0), to = c.output(0);
    const std::ptrdiff_t extent[] = {to.rows, to.columns};
    const std::ptrdiff_t columns_first[] = {1, from.stride}, rows_first[] = {to.stride, 1};
    copy_part(b, c, to.type, 2, extent, {from.data, 0, columns_first}, {to.data, 0, rows_first});
  }
};

}  // namespace lamina::engine::cuda
