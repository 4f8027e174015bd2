// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/lstm_unit/cpu.hpp - the kernels of lstm_unit, one step of a long
// short-term memory.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/recurrent/lstm_unit/definition.hpp>
#if LAMINA_DEFINES
#include <lamina/engine/cpu/memory/array_layout.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/operators/recurrent/lstm_unit/common.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

#if LAMINA_DEFINES

namespace detail {

/// Returns the gates of one cell from a row of X; T is the type of a number or of a vector of
/// numbers.
template <class Real, class T>
LAMINA_INLINE lstm_unit_step<T> lstm_unit_at(const Real* g, int n, Real forget_bias, T like) {
  return {load(g, like), T(load(g + n, like) + T(forget_bias)), load(g + 2 * n, like),
          load(g + 3 * n, like)};
}

}  // namespace detail

#endif  // LAMINA_DEFINES

template <>
struct call_kernel<operators::lstm_unit> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::lstm_unit>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::lstm_unit>::run(const call_context& c) {
  const operand x = c.input(0), before = c.input(1), cell = c.output(0), hidden = c.output(1);
  require_real<Real>(c, x);
  const int n = before.columns;
  const Real forget_bias = static_cast<Real>(c.number(0));
  for (int r = 0; r < x.rows; ++r) {
    const Real* const g = x.row<const Real>(r);
    for_each_position<Real>(n, [&](std::ptrdiff_t j, auto like) {
      const auto gates = detail::lstm_unit_at(g + j, n, forget_bias, like);
      const auto now = gates.cell(load(before.row<const Real>(r) + j, like));
      if (cell) store(cell.row<Real>(r) + j, now);
      if (hidden) store(hidden.row<Real>(r) + j, gates.hidden(now));
    });
  }
}
LAMINA_INSTANCE(void call_kernel<operators::lstm_unit>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::lstm_unit>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::lstm_unit>>::run(const call_context& c) {
  const operand x = c.input(0), before = c.input(1), cell = c.input(2);
  const operand d_cell = c.input(3), d_hidden = c.input(4);
  const operand dx = c.output(0), d_before = c.output(1);
  const int n = before.columns;
  const Real forget_bias = static_cast<Real>(c.number(0));
  for (int r = 0; r < x.rows; ++r) {
    const Real* const g = x.row<const Real>(r);
    for_each_position<Real>(n, [&](std::ptrdiff_t j, auto like) {
      const auto grads = detail::lstm_unit_at(g + j, n, forget_bias, like)
                             .backward(load(cell.row<const Real>(r) + j, like),
                                       load(before.row<const Real>(r) + j, like),
                                       load(d_cell.row<const Real>(r) + j, like),
                                       load(d_hidden.row<const Real>(r) + j, like));
      if (d_before) store(d_before.row<Real>(r) + j, grads.before);
      if (!dx) return;
      Real* const to = dx.row<Real>(r) + j;
      store(to, grads.i);
      store(to + n, grads.f);
      store(to + 2 * n, grads.o);
      store(to + 3 * n, grads.candidate);
    });
  }
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::lstm_unit>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::lstm_unit>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
