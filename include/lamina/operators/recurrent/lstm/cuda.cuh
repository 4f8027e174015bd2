// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/lstm/cuda.cuh - launches the kernels of lstm and lstmp, and computes
// the gradients of their parameters. The kernels run along the sequences; if an lstm has few cells,
// their threads keep the weights in registers and shared memory.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>

#include <lamina/engine/cuda/body/column_sums.cuh>
#include <lamina/operators/recurrent/lstm/cuda_body.cuh>
#include <lamina/operators/recurrent/lstm/cuda_kept_body.cuh>
#include <lamina/operators/recurrent/lstm/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// Returns the arguments of the kernels. `bias_slot` is the input slot of the bias, `functions` the
/// index of the first attribute that names an activation function.
inline lstm_arguments lstm_of(const call_context& c, int cells, int bias_slot, int functions) {
  const operand x = c.input(0), weight = c.input(3), bias = c.input(bias_slot);
  lstm_arguments a{};
  a.steps = {c.sequences(x.domain), c.flag(1)};
  a.gate = recurrent_activation_of(c, functions);
  a.of_cell = recurrent_activation_of(c, functions + 1);
  a.candidate = recurrent_activation_of(c, functions + 2);
  a.n = cells;
  a.depth = weight.rows;
  a.weight = weight;
  a.bias = bias.row<const float>(0);
  a.peepholes = c.flag(0) ? a.bias + 4 * a.n : nullptr;
  a.x = x;
  a.h0 = c.input(1);
  a.c0 = c.input(2);
  a.rows = x.rows;
  a.lines = a.count = a.steps.all.count;
  a.width = 4 * a.n * a.depth;  // makes a team a whole block, unless the weight is tiny
  return a;
}
inline lstm_arguments lstm_of(const call_context& c) { return lstm_of(c, c.input(3).rows, 4, 2); }

/// Computes the gradients of the bias and of the weight. `states` holds, for each row, the state h'
/// before its step.
template <class Backend>
void lstm_parameter_gradients(Backend& b, const lstm_arguments& a, const row_array& states,
                              scratch_rows memory, const operand& d_weight, const operand& d_bias) {
  const row_array seen = memory.take(a.rows, (std::max)(a.depth, a.n));
  int* const before = reinterpret_cast<int*>(memory.take(1, a.rows).data);
  find_steps_before(b, a.steps, a.rows, before);
  if (d_weight) {
    b.template elements<gather_before_body>(
        {states, a.h0, seen, before, divider(a.depth), a.rows * a.depth});
    recurrent_weight_gradient(b, seen, a.d_gates, a.rows, a.depth, 4 * a.n,
                              d_weight.template row<float>(0), d_weight.stride, memory.rest());
  }
  if (!d_bias) return;
  if (a.peepholes != nullptr)
    b.template elements<gather_before_body>(
        {a.cell, a.c0, seen, before, divider(a.n), a.rows * a.n});
  sum_columns(b, lstm_bias_terms{a.d_gates, seen, a.cell, a.n},
              store_sums{d_bias.template row<float>(0)}, a.rows,
              (a.peepholes != nullptr ? 7 : 4) * a.n, memory.rest());
}
template <class Backend>
std::ptrdiff_t lstm_parameter_scratch(scratch_rows memory, int rows, int depth, int n) {
  memory.take(rows, (std::max)(depth, n));
  memory.take(1, rows);
  return memory.used() +
         (std::max)(column_scratch<Backend>(1, rows, 7 * n), Backend::product_workspace);
}

}  // namespace detail

template <>
struct call_kernel<operators::lstm> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    require_float(c, c.input(0));
    detail::scratch_rows memory(c.run.scratch);
    const auto a = arguments(c, memory);
    if (a.lines > 0 && !detail::walk_with_kept_weights<detail::kept_lstm_steps>(b, a))
      b.template lines<team_lines<detail::lstm_lines<false>>>(a);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    // The sizes of scratch memory are computed before the outputs have memory, so it is not known
    // yet which outputs are absent. This is the size if all of them are absent.
    const int n = padded(c.input(3).rows);
    return 2 * static_cast<std::ptrdiff_t>(c.input(0).rows) * n;
  }

 private:
  static detail::lstm_arguments arguments(const call_context& c, detail::scratch_rows& memory) {
    auto a = detail::lstm_of(c);
    a.hidden = memory.or_take(c.output(0), a.rows, a.n);
    a.cell = memory.or_take(c.output(1), a.rows, a.n);
    a.gates = c.output(2);
    a.activated = c.output(3);
    return a;
  }
};

template <>
struct call_kernel<gradient_of<operators::lstm>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    auto a = detail::lstm_of(c);
    detail::scratch_rows memory(c.run.scratch);
    a.hidden = c.input(5);
    a.cell = c.input(6);
    a.gates = c.input(7);
    a.activated = c.input(8);
    a.d_hidden = c.input(9);
    a.d_cell = c.input(10);
    a.d_gates = memory.or_take(c.output(0), a.rows, 4 * a.n);
    a.back_cell = memory.take(a.lines, a.n);
    a.dh0 = c.output(1);
    a.dc0 = c.output(2);
    if (a.lines > 0 && !detail::walk_with_kept_weights<detail::kept_lstm_grad_steps>(b, a))
      b.template lines<team_lines<detail::lstm_grad_lines<false>>>(a);
    detail::lstm_parameter_gradients(b, a, a.hidden, memory, c.output(3), c.output(4));
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    const int n = c.input(3).rows, rows = c.input(0).rows;
    detail::scratch_rows memory(nullptr);
    memory.take(rows, 4 * n);
    memory.take(c.sequences(c.input(0).domain).count, n);
    return detail::lstm_parameter_scratch<Backend>(memory, rows, n, n);
  }
};

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
