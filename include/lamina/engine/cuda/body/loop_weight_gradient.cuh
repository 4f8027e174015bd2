// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/loop_weight_gradient.cuh - kernels that sum the gradients of weights over
// the iterations of a loop, and that transpose weights for a loop.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/after_product.cuh>
#include <lamina/engine/cuda/body/part_copy.cuh>
#include <lamina/engine/cuda/body/product.cuh>
#include <lamina/plan/plan_operators.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// Adds X^T dOut to Sum in each iteration, so that the terms are added in the order of iterations.
template <>
struct call_kernel<operators::defer_product> {
  using to_sum =
      expression::statements<expression::let<operators::elementwise_add, 0, 2,
                                             expression::head_value, expression::load<2>>>;
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), dy = c.input(1), sum = c.input(2);
    if (x.rows <= 0) return;
    const int width = padded(sum.columns);
    const product p{sum.rows,
                    sum.columns,
                    x.rows,
                    {x.row<const float>(0), x.stride, true},
                    {dy.row<const float>(0), dy.stride},
                    c.run.scratch + Backend::product_workspace,
                    width};
    run_product(b, p, c.run.scratch);
    typename after_product_body<to_sum>::arguments g{};
    g.of[2] = sum.row<float>(0);
    g.rows = sum.rows;
    g.columns = sum.columns;
    g.width = width;
    g.channels = 1;
    run_after_product<to_sum>(b, g, p.to);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    const operand sum = c.input(2);
    return Backend::product_workspace + std::ptrdiff_t{sum.rows} * padded(sum.columns);
  }
};
template <>
struct call_kernel<operators::deferred_product> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend&, const call_context&) {}
};

template <>
struct call_kernel<operators::transposed_panels> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand from = c.input(0), to = c.output(0);
    const std::ptrdiff_t extent[] = {to.rows, to.columns};
    const std::ptrdiff_t columns_first[] = {1, from.stride}, rows_first[] = {to.stride, 1};
    copy_part(b, c, to.type, 2, extent, {from.data, 0, columns_first}, {to.data, 0, rows_first});
  }
};

}}}  // namespace lamina::engine::cuda
