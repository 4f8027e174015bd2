// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/lstm_unit_kernels.hpp - one step of a long short-term memory: lstm_unit, a
// thread a cell.
#pragma once

#include <lamina/engine/call/lstm_unit_step.hpp>
#include <lamina/engine/cuda/recurrent_body.hpp>
#include <lamina/operators/lstm.hpp>

namespace lamina::engine::cuda {

namespace detail {

struct lstm_unit_arguments {
  row_array x, before, cell, hidden, d_cell, d_hidden, dx, d_before;
  divider cells;
  float forget_bias;
  int count;

  LAMINA_INLINE LAMINA_FN lstm_unit_step<float> gates(int r, int j) const {
    const float* const g = x.row(r) + j;
    const int n = cells.divisor();
    return {g[0], g[n] + forget_bias, g[2 * n], g[3 * n]};
  }
};

struct lstm_unit_body {
  using arguments = lstm_unit_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    int j = i;
    const int r = a.cells.divide(j);
    const lstm_unit_step<float> gates = a.gates(r, j);
    const float now = gates.cell(a.before.row(r)[j]);
    if (a.cell) a.cell.row(r)[j] = now;
    if (a.hidden) a.hidden.row(r)[j] = gates.hidden(now);
  }
};
struct lstm_unit_slope_body {
  using arguments = lstm_unit_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    int j = i;
    const int r = a.cells.divide(j), n = a.cells.divisor();
    const auto slopes = a.gates(r, j).backward(a.cell.row(r)[j], a.before.row(r)[j],
                                               a.d_cell.row(r)[j], a.d_hidden.row(r)[j]);
    if (a.d_before) a.d_before.row(r)[j] = slopes.before;
    if (!a.dx) return;
    float* const to = a.dx.row(r) + j;
    to[0] = slopes.i;
    to[n] = slopes.f;
    to[2 * n] = slopes.o;
    to[3 * n] = slopes.candidate;
  }
};

inline lstm_unit_arguments lstm_unit_of(const call_site& c) {
  const operand before = c.input(1);
  require_float(c, before);
  lstm_unit_arguments a{};
  a.x = c.input(0);
  a.before = before;
  a.cells = divider(before.columns);
  a.forget_bias = static_cast<float>(c.number(0));
  a.count = before.rows * before.columns;
  return a;
}

}  // namespace detail

template <>
struct call_kernel<lstm_unit> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    auto a = detail::lstm_unit_of(c);
    a.cell = c.output(0);
    a.hidden = c.output(1);
    b.template elements<detail::lstm_unit_body>(a);
  }
};
template <>
struct call_kernel<gradient_of<lstm_unit>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    auto a = detail::lstm_unit_of(c);
    a.cell = c.input(2);
    a.d_cell = c.input(3);
    a.d_hidden = c.input(4);
    a.dx = c.output(0);
    a.d_before = c.output(1);
    b.template elements<detail::lstm_unit_slope_body>(a);
  }
};

}  // namespace lamina::engine::cuda
