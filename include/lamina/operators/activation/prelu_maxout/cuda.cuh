// SPDX-License-Identifier: Apache-2.0
// lamina/operators/activation/prelu_maxout/cuda.cuh - kernels of prelu and maxout, activations that
// are not pointwise.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/operators/activation/prelu_maxout/common.hpp>
#include <lamina/operators/activation/prelu_maxout/definition.hpp>
#include <lamina/operators/norm/layer_norm/cuda.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// Element k of Alpha is the slope of the elements [k * width, (k + 1) * width) of each row.
struct prelu_arguments {
  const float *x, *d;
  float* to;
  std::ptrdiff_t x_stride, d_stride, to_stride;
  part_numbers alpha, d_alpha;
  divider columns, width_of_slope;
  int rows;
  int lines, width, count;
};

template <bool Gradient>
struct prelu_body {
  using arguments = prelu_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    int j = i;
    const int r = a.columns.divide(j);
    const float x = a.x[r * a.x_stride + j], alpha = a.alpha.at(a.width_of_slope.quotient(j));
    const float y = Gradient ? a.d[r * a.d_stride + j] : x;
    a.to[r * a.to_stride + j] = x > 0 ? y : alpha * y;
  }
};

struct prelu_slope_lines {
  using arguments = prelu_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int k, const Team& team) {
    const int n = a.width_of_slope.divisor();
    double sum = 0;
    for (int t = team.rank(); t < a.rows * n; t += team.size()) {
      int j = t;
      const int r = a.width_of_slope.divide(j);
      j += k * n;
      const float x = a.x[r * a.x_stride + j];
      sum += x > 0 ? 0.0 : static_cast<double>(a.d[r * a.d_stride + j] * x);
    }
    sum = sum_of(team, sum);
    if (team.rank() == 0) a.d_alpha.at(k) = static_cast<float>(sum);
  }
};

inline prelu_arguments prelu_of(const call_context& c) {
  const operand x = c.input(0);
  require_float(c, x);
  prelu_arguments a{};
  a.x = row_of(x);
  a.x_stride = x.stride;
  a.alpha = part_numbers(c.input(1));
  a.columns = divider(x.columns);
  a.width_of_slope = divider(slope_width(c, x));
  a.rows = x.rows;
  a.count = x.rows * x.columns;
  return a;
}

struct maxout_arguments {
  const float *x, *out, *d;
  float* to;
  std::ptrdiff_t x_stride, out_stride, to_stride;
  divider columns, inner;  // divide by the columns of Out and by a channel's size
  int groups;
  int count;

  /// Element j of a row of Out is the maximum of several elements of X. Returns the index of the
  /// first of these elements of X.
  LAMINA_INLINE LAMINA_FN int first(int j) const {
    const int channel = inner.divide(j);
    return channel * groups * inner.divisor() + j;
  }
};
struct maxout_body {
  using arguments = maxout_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    int j = i;
    const int r = a.columns.divide(j);
    const float* const x = a.x + r * a.x_stride + a.first(j);
    float best = *x;
    for (int g = 1; g < a.groups; ++g) best = math::maximum(best, x[g * a.inner.divisor()]);
    a.to[r * a.to_stride + j] = best;
  }
};
/// The gradient of an element of Out goes to the largest element of X from which it was taken; if
/// several are equally large, to the first of them.
struct maxout_slope_body {
  using arguments = maxout_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    int j = i;
    const int r = a.columns.divide(j), first = a.first(j), step = a.inner.divisor();
    const float* const x = a.x + r * a.x_stride + first;
    float* const to = a.to + r * a.to_stride + first;
    const float best = a.out[r * a.out_stride + j], slope = a.d[r * a.out_stride + j];
    bool given = false;
    for (int g = 0; g < a.groups; ++g) {
      const bool receives = !given && (math::is_same(x[g * step], best) || g + 1 == a.groups);
      to[g * step] = receives ? slope : 0.0f;
      given = given || receives;
    }
  }
};

inline maxout_arguments maxout_of(const call_context& c, const operand& out) {
  const operand x = c.input(0);
  require_float(c, x);
  maxout_arguments a{};
  a.x = row_of(x);
  a.x_stride = x.stride;
  a.out_stride = out.stride;
  a.columns = divider(out.columns);
  a.inner = divider(channel_width(x));
  a.groups = c.integer(0);
  a.count = out.rows * out.columns;
  return a;
}

}  // namespace detail

template <>
struct call_kernel<operators::prelu> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand y = c.output(0);
    auto a = detail::prelu_of(c);
    a.to = y.row<float>(0);
    a.to_stride = y.stride;
    b.template elements<detail::prelu_body<false>>(a);
  }
};
template <>
struct call_kernel<gradient_of<operators::prelu>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand d = c.input(2), dx = c.output(0), d_alpha = c.output(1);
    auto a = detail::prelu_of(c);
    a.d = detail::row_of(d);
    a.d_stride = d.stride;
    if (dx) {
      a.to = dx.row<float>(0);
      a.to_stride = dx.stride;
      b.template elements<detail::prelu_body<true>>(a);
    }
    if (!d_alpha) return;
    a.d_alpha = detail::part_numbers(d_alpha);
    const int n = a.width_of_slope.divisor();
    run_lines<detail::prelu_slope_lines>(b, a, a.columns.divisor() / n, a.rows * n, n == 1);
  }
};

template <>
struct call_kernel<operators::maxout> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand y = c.output(0);
    auto a = detail::maxout_of(c, y);
    a.to = y.row<float>(0);
    a.to_stride = y.stride;
    b.template elements<detail::maxout_body>(a);
  }
};
template <>
struct call_kernel<gradient_of<operators::maxout>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand out = c.input(1), d = c.input(2), dx = c.output(0);
    if (!dx) return;
    auto a = detail::maxout_of(c, out);
    a.out = detail::row_of(out);
    a.d = detail::row_of(d);
    a.to = dx.row<float>(0);
    a.to_stride = dx.stride;
    b.template elements<detail::maxout_slope_body>(a);
  }
};

}}}  // namespace lamina::engine::cuda
