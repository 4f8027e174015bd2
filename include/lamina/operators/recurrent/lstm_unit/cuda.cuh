// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/lstm_unit/cuda.cuh - the kernels of lstm_unit, one step of a long
// short-term memory. Each thread computes one cell.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/bound_kernel.cuh>
#include <lamina/engine/cuda/body/divider.cuh>
#include <lamina/operators/recurrent/lstm_unit/common.hpp>
#include <lamina/operators/recurrent/lstm_unit/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

struct lstm_unit_call : kernel_call {
  row_array x = input(0), before = input(1);
  int cells = input(1).columns;
  divider by_cells{cells};
  float forget_bias = real(0);
  int count = input(1).rows * cells;

  /// The gates of cell j in row r.
  LAMINA_INLINE LAMINA_FN lstm_unit_step<float> gates(int r, int j) const {
    const float* const g = x.row(r) + j;
    return {g[0], g[cells] + forget_bias, g[2 * cells], g[3 * cells]};
  }
};
struct lstm_unit_kernel : lstm_unit_call {
  row_array cell = output(0), hidden = output(1);

  LAMINA_INLINE LAMINA_FN void run(int j) const {
    const int r = by_cells.divide(j);
    const lstm_unit_step<float> g = gates(r, j);
    const float now = g.cell(before.row(r)[j]);
    if (cell) cell.row(r)[j] = now;
    if (hidden) hidden.row(r)[j] = g.hidden(now);
  }
};
struct lstm_unit_grad_kernel : lstm_unit_call {
  row_array cell = input(2), d_cell = input(3), d_hidden = input(4);
  row_array dx = output(0), d_before = output(1);

  LAMINA_INLINE LAMINA_FN void run(int j) const {
    const int r = by_cells.divide(j);
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

}  // namespace detail

template <>
struct call_kernel<operators::lstm_unit> : elements_call<detail::lstm_unit_kernel> {};
template <>
struct call_kernel<gradient_of<operators::lstm_unit>>
    : elements_call<detail::lstm_unit_grad_kernel> {};

}}}  // namespace lamina::engine::cuda
