// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/lstmp/cuda.cuh - lstmp: an lstmp: an lstm that projects its hidden
// state.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/recurrent/lstm/cuda.cuh>
#include <lamina/operators/recurrent/lstm/cuda_body.cuh>
#include <lamina/operators/recurrent/lstmp/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

inline lstm_arguments lstmp_of(const call_context& c) {
  auto a = lstm_of(c, c.input(4).rows, 5, 4);
  a.cell_clip = static_cast<float>(c.number(2));
  a.proj_clip = static_cast<float>(c.number(3));
  a.of_projection = recurrent_activation_of(c, 7);
  a.proj_weight = c.input(4);
  return a;
}

}  // namespace detail

template <>
struct call_kernel<operators::lstmp> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    require_float(c, c.input(0));
    auto a = detail::lstmp_of(c);
    detail::scratch_rows memory(c.run.scratch);
    a.projection = memory.or_take(c.output(0), a.rows, a.depth);
    a.cell = memory.or_take(c.output(1), a.rows, a.n);
    a.hidden = memory.or_take(c.output(4), a.rows, a.n);
    a.gates = c.output(2);
    a.activated = c.output(3);
    if (a.lines > 0) b.template lines<team_lines<detail::lstm_lines<true>>>(a);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    const int n = c.input(4).rows, rows = c.input(0).rows;
    detail::scratch_rows memory(nullptr);
    memory.take(rows, c.input(3).rows);
    memory.take(rows, n);
    memory.take(rows, n);
    return memory.used();
  }
};

template <>
struct call_kernel<gradient_of<operators::lstmp>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand hidden = c.input(10), d_proj_weight = c.output(4);
    auto a = detail::lstmp_of(c);
    detail::scratch_rows memory(c.run.scratch);
    a.projection = c.input(6);
    a.cell = c.input(7);
    a.gates = c.input(8);
    a.activated = c.input(9);
    a.hidden = hidden;
    a.d_projection = c.input(11);
    a.d_cell = c.input(12);
    a.d_gates = memory.or_take(c.output(0), a.rows, 4 * a.n);
    a.d_projected = memory.take(a.rows, a.depth);
    a.back_cell = memory.take(a.lines, a.n);
    a.dh0 = c.output(1);
    a.dc0 = c.output(2);
    if (a.lines > 0) b.template lines<team_lines<detail::lstm_grad_lines<true>>>(a);
    detail::lstm_parameter_gradients(b, a, a.projection, memory, c.output(3), c.output(5));
    if (!d_proj_weight) return;
    detail::recurrent_weight_gradient(b, hidden, a.d_projected, a.rows, a.n, a.depth,
                                      d_proj_weight.row<float>(0), d_proj_weight.stride,
                                      memory.rest());
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    const int n = c.input(4).rows, rows = c.input(0).rows;
    detail::scratch_rows memory(nullptr);
    memory.take(rows, 4 * n);
    memory.take(rows, c.input(3).rows);
    memory.take(c.sequences(c.input(0).domain).count, n);
    return detail::lstm_parameter_scratch<Backend>(memory, rows, c.input(3).rows, n);
  }
};

}}}  // namespace lamina::engine::cuda
