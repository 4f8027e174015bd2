// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/lstm_unit/cuda.cuh - the kernels of lstm_unit, one step of a long
// short-term memory. Each thread computes one cell.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/recurrent_body.cuh>
#include <lamina/operators/recurrent/lstm_unit/common.hpp>
#include <lamina/operators/recurrent/lstm_unit/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

struct lstm_unit_arrays {
  row_array x, before, cell, hidden, d_cell, d_hidden, dx, d_before;
  int cells;
  float forget_bias;

  LAMINA_INLINE LAMINA_FN lstm_unit_step<float> gates(int r, int j) const {
    const float* const g = x.row(r) + j;
    return {g[0], g[cells] + forget_bias, g[2 * cells], g[3 * cells]};
  }
  /// Computes cell j of row r.
  LAMINA_INLINE LAMINA_FN void step(int r, int j) const {
    const lstm_unit_step<float> g = gates(r, j);
    const float now = g.cell(before.row(r)[j]);
    if (cell) cell.row(r)[j] = now;
    if (hidden) hidden.row(r)[j] = g.hidden(now);
  }
  LAMINA_INLINE LAMINA_FN void step_back(int r, int j) const {
    const auto grads = gates(r, j).backward(cell.row(r)[j], before.row(r)[j], d_cell.row(r)[j],
                                            d_hidden.row(r)[j]);
    if (d_before) d_before.row(r)[j] = grads.before;
    if (!dx) return;
    float* const to = dx.row(r) + j;
    to[0] = grads.i;
    to[cells] = grads.f;
    to[2 * cells] = grads.o;
    to[3 * cells] = grads.candidate;
  }
};
struct lstm_unit_arguments : lstm_unit_arrays {
  divider by_cells;
  int count;
};

struct lstm_unit_body {
  using arguments = lstm_unit_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const int r = a.by_cells.divide(i);
    a.step(r, i);
  }
};
struct lstm_unit_grad_body {
  using arguments = lstm_unit_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const int r = a.by_cells.divide(i);
    a.step_back(r, i);
  }
};

inline lstm_unit_arguments lstm_unit_of(const call_context& c) {
  const operand before = c.input(1);
  require_float(c, before);
  lstm_unit_arguments a{};
  a.x = c.input(0);
  a.before = before;
  a.cells = before.columns;
  a.by_cells = divider(before.columns);
  a.forget_bias = static_cast<float>(c.number(0));
  a.count = before.rows * before.columns;
  return a;
}

}  // namespace detail

template <>
struct call_kernel<operators::lstm_unit> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    auto a = detail::lstm_unit_of(c);
    a.cell = c.output(0);
    a.hidden = c.output(1);
    b.template elements<detail::lstm_unit_body>(a);
  }
};
template <>
struct call_kernel<gradient_of<operators::lstm_unit>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    auto a = detail::lstm_unit_of(c);
    a.cell = c.input(2);
    a.d_cell = c.input(3);
    a.d_hidden = c.input(4);
    a.dx = c.output(0);
    a.d_before = c.output(1);
    b.template elements<detail::lstm_unit_grad_body>(a);
  }
};

}}}  // namespace lamina::engine::cuda
