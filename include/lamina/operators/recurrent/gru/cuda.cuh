// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/gru/cuda.cuh - launches the kernels of gru and gru_unit, and computes
// the gradients of their parameters. The kernels run along the sequences; if the states are few,
// their threads keep the weights in registers and shared memory.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>

#include <lamina/engine/cuda/body/column_sums.cuh>
#include <lamina/engine/cuda/body/part_copy.cuh>
#include <lamina/operators/recurrent/gru/cuda_body.cuh>
#include <lamina/operators/recurrent/gru/cuda_kept_body.cuh>
#include <lamina/operators/recurrent/gru/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// gru or, with Unit, gru_unit, whose rows are treated as sequences of one step. The members are
/// the numbers of slots, which differ between the two operators.
template <bool Unit>
struct gru_call {
  static constexpr int hidden = Unit ? 2 : 3;

  static gru_arguments arguments(const call_context& c) {
    const operand x = c.input(0), weight = c.input(2), bias = c.input(3);
    gru_arguments a{};
    if constexpr (Unit) {
      a.steps = {{nullptr, x.rows}, false};
      a.candidate = recurrent_activation_numbered(c, 0);
      a.gate = recurrent_activation_numbered(c, 1);
      a.origin_mode = c.flag(2);
    } else {
      a.steps = {c.sequences(x.domain), c.flag(2)};
      a.candidate = recurrent_activation_of(c, 0);
      a.gate = recurrent_activation_of(c, 1);
      a.origin_mode = c.flag(3);
    }
    a.n = weight.rows;
    a.weight = {weight.row<const float>(0), weight.stride, divider(weight.columns), a.n};
    a.bias = bias ? bias.row<const float>(0) : nullptr;
    a.x = x;
    a.h0 = c.input(1);
    a.rows = x.rows;
    a.lines = a.count = a.steps.all.count;
    a.width = 3 * a.n * a.n;  // makes a team a whole block, unless the weight is tiny
    return a;
  }
  /// Runs the kernel Kept, whose threads keep the weights, if sequences have several steps and the
  /// weights fit; otherwise runs the kernel Lines.
  template <class Lines, template <int> class Kept, class Backend>
  static void walk(Backend& b, const gru_arguments& a) {
    if (a.lines == 0) return;
    if constexpr (!Unit)
      if (walk_with_kept_weights<Kept>(b, a)) return;
    b.template lines<team_lines<Lines>>(a);
  }
};

template <bool Unit>
struct gru_kernel {
  using call = gru_call<Unit>;
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    require_float(c, c.input(0));
    auto a = call::arguments(c);
    scratch_rows memory(c.run.scratch);
    a.gates = memory.or_take(c.output(0), a.rows, 3 * a.n);
    a.reset = memory.or_take(c.output(1), a.rows, a.n);
    a.hidden = memory.or_take(c.output(call::hidden), a.rows, a.n);
    call::template walk<gru_lines, kept_gru_steps>(b, a);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    const int n = c.input(2).rows, rows = c.input(0).rows;
    scratch_rows memory(nullptr);
    memory.take(rows, 3 * n);
    memory.take(rows, n);
    memory.take(rows, n);
    return memory.used();
  }
};

template <bool Unit>
struct gru_gradient_kernel {
  using call = gru_call<Unit>;
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand reset = c.input(5), d_weight = c.output(2), d_bias = c.output(3);
    auto a = call::arguments(c);
    const int n = a.n;
    scratch_rows memory(c.run.scratch);
    a.gates = c.input(4);
    a.hidden = c.input(4 + call::hidden);
    a.d_hidden = c.input(5 + call::hidden);
    a.d_gates = memory.or_take(c.output(0), a.rows, 3 * n);
    a.back = memory.take(a.lines, n);
    a.dh0 = c.output(1);
    const row_array seen = memory.take(a.rows, n);
    int* const before = reinterpret_cast<int*>(memory.take(1, a.rows).data);
    float* const weight = memory.take(1, 3 * n * n).data;
    call::template walk<gru_grad_lines, kept_gru_grad_steps>(b, a);
    if (d_bias)
      sum_columns(b, array_terms{a.d_gates.data, a.d_gates.stride},
                  store_sums{d_bias.template row<float>(0)}, a.rows, 3 * n, memory.rest());
    if (!d_weight) return;
    find_steps_before(b, a.steps, a.rows, before);
    b.template elements<gather_before_body>({a.hidden, a.h0, seen, before, divider(n), a.rows * n});
    recurrent_weight_gradient(b, seen, a.d_gates, a.rows, n, 2 * n, weight, 2 * n, memory.rest());
    // The candidate reads r * h' instead of h', so its part of the weight needs another product.
    recurrent_weight_gradient(b, reset, {a.d_gates.data + 2 * n, a.d_gates.stride}, a.rows, n, n,
                              weight + 2 * n * n, n, memory.rest());
    operand made = d_weight;
    made.data = weight;
    made.stride = 3 * n;
    copy_elements(b, made, d_weight);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    const int n = c.input(2).rows, rows = c.input(0).rows;
    scratch_rows memory(nullptr);
    memory.take(rows, 3 * n);
    memory.take(call::arguments(c).lines, n);
    memory.take(rows, n);
    memory.take(1, rows);
    memory.take(1, 3 * n * n);
    return memory.used() +
           (std::max)(column_scratch<Backend>(1, rows, 3 * n), Backend::product_workspace);
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::gru> : detail::gru_kernel<false> {};
template <>
struct call_kernel<gradient_of<operators::gru>> : detail::gru_gradient_kernel<false> {};

template <>
struct call_kernel<operators::gru_unit> : detail::gru_kernel<true> {};
template <>
struct call_kernel<gradient_of<operators::gru_unit>> : detail::gru_gradient_kernel<true> {};

}}}  // namespace lamina::engine::cuda
