// SPDX-License-Identifier: Apache-2.0
// lamina/operators/update/step/cpu.hpp - kernels that compute the values that change from step to
// step in optimizer updates: the learning rate and the factor of gradient clipping.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>

#include <lamina/core/arrays/padding.hpp>
#include <lamina/engine/cpu/gemm/panel.hpp>
#include <lamina/engine/cpu/memory/selected_rows.hpp>
#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/optimizer/clip.hpp>
#include <lamina/optimizer/step_operators.hpp>
#include <lamina/plan/plan_operators.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// Returns the L2 norm of an array in the layout of a parameter. Skips the padding, which may hold
/// any values.
template <class Real>
LAMINA_COLD inline Real norm_of(int rows, int columns, bool panel, const Real* g) {
  double squares = 0;
  const auto add = [&](const Real* x, int n) {
    for (int j = 0; j < n; ++j) squares += static_cast<double>(x[j]) * x[j];
  };
  if (panel)
    for_each_row_segment<Real>(rows, columns,
                               [&](std::ptrdiff_t offset, int n, int, int) { add(g + offset, n); });
  else
    for (int r = 0; r < rows; ++r)
      add(g + static_cast<std::ptrdiff_t>(r) * padded(columns), columns);
  return static_cast<Real>(std::sqrt(squares));
}

template <class Real>
LAMINA_COLD inline Real norm_of(const basic_selected_rows<Real>& g) {
  return static_cast<Real>(std::sqrt(squares_of(g)));
}

template <>
struct call_kernel<operators::decayed_learning_rate> {
  template <int = 0>  // compiled where it is called
  static void run(const call_context& c) {
    const operand before = c.input(0), after = c.output(1);
    const std::int64_t step = *static_cast<const std::int64_t*>(before.data) + 1;
    *static_cast<float*>(c.output(0).data) = optimizer::rate_of_step(
        step, [&](int i) { return c.number(i); }, c.list_size(13),
        [&](int i) { return c.integer_at(12, i); }, [&](int i) { return c.real_at(13, i); });
    *static_cast<std::int64_t*>(after.data) = step;
  }
};

template <>
struct call_kernel<operators::gradient_scale> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::update_numbers> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::gradient_scale>::run(const call_context& c) {
  const float limit = static_cast<float>(c.number(0));
  double squares = 0;
  Real norm = 0;
  for (int i = 0; i < c.input_count(0); ++i) {
    const operand g = c.input(0, i);
    norm = has_selected_rows(g)
               ? norm_of(rows_of<Real>(g))
               : norm_of(g.rows, g.columns, g.panel, static_cast<const Real*>(g.data));
    squares += static_cast<double>(norm) * norm;
  }
  *static_cast<float*>(c.output(0).data) =
      c.flag(1) ? optimizer::shared_scale(squares, limit)
                : optimizer::norm_scale(static_cast<float>(norm), limit);
}
LAMINA_INSTANCE(void call_kernel<operators::gradient_scale>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::gradient_scale>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::update_numbers>::run(const call_context& c) {
  const operand rate = c.input(0), scale = c.input(1), out = c.output(0);
  Real* const to = static_cast<Real*>(out.data);
  for (int i = 0; i < out.columns; ++i) to[i] = static_cast<Real>(c.number(i));
  if (rate) to[0] = *static_cast<const float*>(rate.data) * to[0];
  if (scale) to[1] = *static_cast<const float*>(scale.data);
}
LAMINA_INSTANCE(void call_kernel<operators::update_numbers>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::update_numbers>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
