// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/conv/cpu.hpp - builds the matrix of windows that sequence_conv
// multiplies by its filter, and computes its gradient.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#if LAMINA_DEFINES
#include <algorithm>

#include <lamina/engine/common/call_error.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/plan/plan_operators.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

#if LAMINA_DEFINES

namespace detail {

/// Calls f(row, position in the window, row of X or -1, row of PaddingData or -1) for each position
/// of each window. If the window reads zeros at this position, both the row of X and the row of
/// PaddingData are -1.
template <class F>
void for_each_window_row(const call_context& c, const operand& rows, F&& f) {
  const int length = c.integer(0), start = c.integer(1);
  const int before = (std::max)(0, -start);
  const bool trains_padding = c.flag(3);
  const sequence_rows all = c.sequences(rows);
  for (int s = 0; s < all.count; ++s) {
    const int begin = all.begin(s), n = all.length(s);
    for (int t = 0; t < n; ++t)
      for (int j = 0; j < length; ++j) {
        const int at = t + start + j;
        if (at >= 0 && at < n)
          f(begin + t, j, begin + at, -1);
        else
          f(begin + t, j, -1, !trains_padding ? -1 : at < 0 ? before + at : before + at - n);
      }
  }
}

}  // namespace detail

#endif  // LAMINA_DEFINES

template <>
struct call_kernel<operators::sequence_windows> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::sequence_windows_grad> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::sequence_windows>::run(const call_context& c) {
  const operand x = c.input(0), padding = c.input(1), out = c.output(0);
  if (c.integer(2) != 1) fail(c, {"expected a contextStride of 1, found ", c.integer(2)});
  const int width = x.columns;
  detail::for_each_window_row(c, x, [&](int row, int j, int from, int pad) {
    Real* const to = out.row<Real>(row) + static_cast<std::ptrdiff_t>(j) * width;
    if (from >= 0)
      std::copy(x.row<const Real>(from), x.row<const Real>(from) + width, to);
    else if (pad >= 0)
      std::copy(padding.row<const Real>(pad), padding.row<const Real>(pad) + width, to);
    else
      std::fill(to, to + width, Real(0));
  });
}
LAMINA_INSTANCE(void call_kernel<operators::sequence_windows>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::sequence_windows>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::sequence_windows_grad>::run(const call_context& c) {
  const operand d = c.input(0), dx = c.output(0), dpadding = c.output(1);
  if (dx) clear(dx);
  if (dpadding) clear(dpadding);
  const int width = d.columns / c.integer(0);
  detail::for_each_window_row(c, d, [&](int row, int j, int from, int pad) {
    Real* const to = from >= 0 && dx        ? dx.row<Real>(from)
                     : pad >= 0 && dpadding ? dpadding.row<Real>(pad)
                                            : nullptr;
    if (to == nullptr) return;
    const Real* const add = d.row<const Real>(row) + static_cast<std::ptrdiff_t>(j) * width;
    for_each_position<Real>(width, [&](std::ptrdiff_t i, auto like) {
      store(to + i, load(to + i, like) + load(add + i, like));
    });
  });
}
LAMINA_INSTANCE(void call_kernel<operators::sequence_windows_grad>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<operators::sequence_windows_grad>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
