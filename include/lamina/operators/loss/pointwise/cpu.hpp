// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/pointwise/cpu.hpp - sigmoid_cross_entropy_with_logits, which is not
// pointwise if `normalize` is set.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/loss/pointwise/definition.hpp>
#if LAMINA_DEFINES
#include <lamina/operators/elementwise/cpu.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

#if LAMINA_DEFINES

namespace detail {

/// Computes the costs or, for the gradient operator, the gradients. If `normalize` is set, divides
/// them by the number of labels that are not ignore_index.
template <class Op, class Real>
void divided_by_labels(const call_context& c) {
  const operand label = c.input(1), out = c.output(0);
  if (!out) return;
  pointwise_output<Op, 0, Real>::run(c);
  if (!c.flag(1)) return;
  const Real ignored = static_cast<Real>(c.number(0));
  std::int64_t n = 0;
  for (int r = 0; r < label.rows; ++r)
    for (int j = 0; j < label.columns; ++j) n += label.row<const Real>(r)[j] != ignored ? 1 : 0;
  const Real factor = n == 0 ? Real(1) : Real(1) / static_cast<Real>(n);
  for (int r = 0; r < out.rows; ++r)
    for (int j = 0; j < out.columns; ++j) out.row<Real>(r)[j] *= factor;
}

}  // namespace detail

#endif  // LAMINA_DEFINES

template <>
struct call_kernel<operators::sigmoid_cross_entropy_with_logits> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};
template <>
struct call_kernel<gradient_of<operators::sigmoid_cross_entropy_with_logits>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::sigmoid_cross_entropy_with_logits>::run(const call_context& c) {
  require_real<Real>(c, c.input(0));
  require_real<Real>(c, c.input(1));
  detail::divided_by_labels<operators::sigmoid_cross_entropy_with_logits, Real>(c);
}
LAMINA_INSTANCE(
    void call_kernel<operators::sigmoid_cross_entropy_with_logits>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::sigmoid_cross_entropy_with_logits>::run<double>(
    const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::sigmoid_cross_entropy_with_logits>>::run(
    const call_context& c) {
  require_real<Real>(c, c.input(0));
  require_real<Real>(c, c.input(1));
  detail::divided_by_labels<gradient_of<operators::sigmoid_cross_entropy_with_logits>, Real>(c);
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::sigmoid_cross_entropy_with_logits>>::run<float>(
        const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::sigmoid_cross_entropy_with_logits>>::run<double>(
        const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
