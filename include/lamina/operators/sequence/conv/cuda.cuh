// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/conv/cuda.cuh - the kernels of sequence_conv and row_conv. A team of
// threads computes the windows of each sequence.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/sequence/conv/definition.hpp>
#include <lamina/operators/sequence/cuda.cuh>
#include <lamina/plan/plan_operators.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// in[0] holds the rows of X or, for gradients, the gradients of windows. in[1] holds the padding
/// rows of sequence_conv, first the rows before a sequence, then the rows after it; for row_conv it
/// holds the weights.
struct window_arguments : sequence_arguments {
  int length, start, before;  // the window; the number of padding rows before a sequence
};

template <class Kernel, class Backend>
void run_windows(Backend& b, const call_context& c, window_arguments a, int domain, int width) {
  a.all = c.sequences(domain);
  a.lines = a.count = a.all.count;
  a.columns = divider(width);
  const int rows = c.rows_in(domain);
  a.width = a.lines > 0 ? rows / a.lines * width : 0;
  if (a.lines > 0) b.template lines<team_lines<Kernel>>(a);
}

struct window_lines {
  using arguments = window_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int begin = a.all.begin(s), n = a.all.end(s) - begin, width = a.in[0].columns;
    for (int i = team.rank(); i < n * a.columns.divisor(); i += team.size()) {
      int column = i;
      const int t = a.columns.divide(column);
      const int tap = column / width, j = column % width, at = t + a.start + tap;
      float v = 0;
      if (at >= 0 && at < n)
        v = a.in[0].row<const float>(begin + at)[j];
      else if (a.in[1])
        v = a.in[1].row<const float>(at < 0 ? a.before + at : a.before + at - n)[j];
      a.out[0].row<float>(begin + t)[column] = v;
    }
  }
};
struct window_grad_lines {
  using arguments = window_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int begin = a.all.begin(s), n = a.all.end(s) - begin, width = a.columns.divisor();
    for (int i = team.rank(); i < n * width; i += team.size()) {
      int j = i;
      const int q = a.columns.divide(j);
      float sum = 0;
      for (int tap = 0; tap < a.length; ++tap)
        if (const int t = q - a.start - tap; t >= 0 && t < n)
          sum += a.in[0].row<const float>(begin + t)[tap * width + j];
      a.out[0].row<float>(begin + q)[j] = sum;
    }
  }
};
/// Computes the gradient of PaddingData; each team of threads computes one row. A window contains a
/// padding row at most once, so the row's gradient has at most one term per window.
struct window_padding_lines {
  using arguments = window_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int p, const Team& team) {
    const int width = a.columns.divisor();
    for (int j = team.rank(); j < width; j += team.size()) {
      float sum = 0;
      for (int s = 0; s < a.all.count; ++s) {
        const int begin = a.all.begin(s), n = a.all.end(s) - begin;
        const int at = p < a.before ? p - a.before : n + p - a.before;
        for (int tap = 0; tap < a.length; ++tap)
          if (const int t = at - a.start - tap; t >= 0 && t < n)
            sum += a.in[0].row<const float>(begin + t)[tap * width + j];
      }
      a.out[1].row<float>(p)[j] = sum;
    }
  }
};

/// Computes row_conv: the result at t is the sum of rows t, t + 1, ... times weights 0, 1, ... With
/// Back, computes the gradient of X: the gradient of row t is the sum of the gradients of the
/// results at t, t - 1, ... times weights 0, 1, ...
template <bool Back>
struct row_conv_lines {
  using arguments = window_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int begin = a.all.begin(s), n = a.all.end(s) - begin;
    for (int i = team.rank(); i < n * a.columns.divisor(); i += team.size()) {
      int j = i;
      const int t = a.columns.divide(j), reach = Back ? t + 1 : n - t;
      float sum = 0;
      for (int tap = 0; tap < a.length && tap < reach; ++tap)
        sum += a.in[0].row<const float>(begin + (Back ? t - tap : t + tap))[j] *
               a.in[1].row<const float>(tap)[j];
      a.out[0].row<float>(begin + t)[j] = sum;
    }
  }
};
/// Computes the gradient of the weights; each team computes one row of weights. in[2] holds the
/// gradient of Out.
struct row_conv_weight_lines {
  using arguments = window_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int tap, const Team& team) {
    for (int j = team.rank(); j < a.columns.divisor(); j += team.size()) {
      float sum = 0;
      for (int s = 0; s < a.all.count; ++s)
        for (int r = a.all.begin(s); r + tap < a.all.end(s); ++r)
          sum += a.in[2].row<const float>(r)[j] * a.in[0].row<const float>(r + tap)[j];
      a.out[1].row<float>(tap)[j] = sum;
    }
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::sequence_windows> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    if (c.integer(2) != 1) fail(c, {"expected a contextStride of 1, found ", c.integer(2)});
    const operand x = c.input(0), out = c.output(0);
    detail::window_arguments a{};
    a.length = c.integer(0);
    a.start = c.integer(1);
    a.before = a.start < 0 ? -a.start : 0;
    a.in[0] = view_of_operand(x);
    if (c.flag(3)) a.in[1] = c.in(1);
    a.out[0] = view_of_operand(out);
    detail::run_windows<detail::window_lines>(b, c, a, x.domain, out.columns);
  }
};
template <>
struct call_kernel<operators::sequence_windows_grad> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand d = c.input(0), dx = c.output(0), dpadding = c.output(1);
    detail::window_arguments a{};
    a.length = c.integer(0);
    a.start = c.integer(1);
    a.before = a.start < 0 ? -a.start : 0;
    a.in[0] = view_of_operand(d);
    a.out[0] = view_of_operand(dx);
    a.out[1] = view_of_operand(dpadding);
    const int width = d.columns / at_least_one(a.length);
    if (dx) detail::run_windows<detail::window_grad_lines>(b, c, a, d.domain, width);
    if (!dpadding) return;
    a.all = c.sequences(d.domain);
    a.columns = divider(width);
    a.lines = a.count = dpadding.rows;
    a.width = width;
    if (a.lines > 0) b.template lines<team_lines<detail::window_padding_lines>>(a);
  }
};

template <>
struct call_kernel<operators::row_conv> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), filter = c.input(1);
    require_float(c, x);
    detail::window_arguments a{};
    a.length = filter.rows;
    a.in[0] = view_of_operand(x);
    a.in[1] = view_of_operand(filter);
    a.out[0] = c.out(0);
    detail::run_windows<detail::row_conv_lines<false>>(b, c, a, x.domain, x.columns);
  }
};
template <>
struct call_kernel<gradient_of<operators::row_conv>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), filter = c.input(1), d = c.input(2);
    const operand dx = c.output(0), dfilter = c.output(1);
    detail::window_arguments a{};
    a.length = filter.rows;
    a.in[0] = view_of_operand(d);
    a.in[1] = view_of_operand(filter);
    a.out[0] = view_of_operand(dx);
    if (dx) detail::run_windows<detail::row_conv_lines<true>>(b, c, a, d.domain, d.columns);
    if (!dfilter) return;
    a.in[0] = view_of_operand(x);
    a.in[2] = view_of_operand(d);
    a.out[1] = view_of_operand(dfilter);
    a.all = c.sequences(d.domain);
    a.columns = divider(d.columns);
    a.lines = a.count = filter.rows;
    a.width = d.columns;
    if (a.lines > 0) b.template lines<team_lines<detail::row_conv_weight_lines>>(a);
  }
};

}}}  // namespace lamina::engine::cuda
