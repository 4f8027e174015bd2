// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/crf/cuda.cuh - kernels of linear_chain_crf and crf_decoding.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/loss/crf/cuda_body.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// Fails with a message for fault `i` if the fault is a sum of e^score outside of the range of
/// float. Returns if the fault is a label.
LAMINA_COLD inline void fail_crf_sum(const call_context& c, int i) {
  static constexpr const char* found[] = {"0", "inf", "nan"};
  const argument_view label = c.in(2);
  const int kind = i - label.rows * label.columns;
  if (kind < 0) return;
  fail(c, {"expected scores whose e^x has a sum that a float can hold, found ", found[kind]});
}

}  // namespace detail

template <>
struct call_kernel<operators::linear_chain_crf> {
  static constexpr checked_input checked{.slot = 2, .what = "label", .tell = detail::fail_crf_sum};
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    auto a = detail::crf_of(c);
    detail::scratch_rows memory(c.run.scratch);
    a.alpha = memory.or_take(c.output(0), a.rows, a.tags);
    a.e = memory.or_take(c.output(1), a.rows, a.tags);
    a.w = memory.or_take(c.output(2), a.tags + 2, a.tags);
    a.cost = c.output(3);
    detail::take_logs(b, a, memory);
    b.template elements<detail::crf_weight_body>(a);
    if (a.lines > 0) b.template lines<team_lines<detail::crf_lines>>(a);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    const operand x = c.input(0);
    detail::scratch_rows memory(nullptr);
    memory.take(x.rows, x.columns);
    memory.take(x.rows, x.columns);
    memory.take(x.columns + 2, x.columns);
    detail::take_logs(memory, x.rows, x.columns);
    return memory.used();
  }
};

template <>
struct call_kernel<gradient_of<operators::linear_chain_crf>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    auto a = detail::crf_of(c);
    detail::scratch_rows memory(c.run.scratch);
    a.alpha = c.input(3);
    a.e = c.input(4);
    a.w = c.input(5);
    a.d = c.input(6);
    a.dx = memory.or_take(c.output(0), a.rows, a.tags);
    a.dw = c.output(1);
    a.behind = memory.take(a.rows, a.tags);
    a.pairs = memory.take(a.rows, a.tags);
    a.grads = memory.take(a.rows, 1);
    a.before = reinterpret_cast<int*>(memory.take(1, a.rows).data);
    detail::take_logs(b, a, memory);
    if (a.lines > 0) b.template lines<team_lines<detail::crf_grad_lines>>(a);
    if (!a.dw) return;
    detail::find_steps_before(b, {a.all, false}, a.rows, a.before);
    run_lines<detail::crf_transition_lines>(b, a, a.count, a.rows, true);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    const operand x = c.input(0);
    detail::scratch_rows memory(nullptr);
    for (int i = 0; i < 3; ++i) memory.take(x.rows, x.columns);
    memory.take(x.rows, 1);
    memory.take(1, x.rows);
    detail::take_logs(memory, x.rows, x.columns);
    return memory.used();
  }
};

template <>
struct call_kernel<operators::crf_decoding> {
  static constexpr checked_input checked{2, "label"};
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand path = c.output(0);
    auto a = detail::crf_of(c);
    detail::scratch_rows memory(c.run.scratch);
    a.scores = memory.take(a.rows, a.tags);
    a.from = reinterpret_cast<int*>(memory.take(1, a.rows * a.tags).data);
    a.path = path.row<std::int64_t>(0);
    a.path_stride = path.stride;
    if (a.lines > 0) b.template lines<team_lines<detail::crf_path_lines>>(a);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    const operand x = c.input(0);
    detail::scratch_rows memory(nullptr);
    memory.take(x.rows, x.columns);
    memory.take(1, x.rows * x.columns);
    return memory.used();
  }
};

}}}  // namespace lamina::engine::cuda
