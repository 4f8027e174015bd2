// SPDX-License-Identifier: Apache-2.0
// lamina/operators/activation/prelu_maxout/cuda.cuh - kernels of prelu and maxout, activations that
// are not pointwise.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/engine/cuda/body/bound_kernel.cuh>
#include <lamina/operators/activation/prelu_maxout/common.hpp>
#include <lamina/operators/activation/prelu_maxout/definition.hpp>
#include <lamina/operators/norm/layer_norm/cuda.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// Element k of Alpha is the slope of the elements [k * width, (k + 1) * width) of each row.
struct prelu_call : kernel_call {
  row_array x = input(0);
  part_numbers alpha{input(1)};
  divider columns{input(0).columns}, width_of_slope{slope_width(*call, input(0))};
  int rows = input(0).rows, count = rows * input(0).columns;
};
struct prelu_kernel : prelu_call {
  row_array y = output(0);

  LAMINA_INLINE LAMINA_FN void run(int j) const {
    const int r = columns.divide(j);
    const float v = x.row(r)[j], slope = alpha.at(width_of_slope.quotient(j));
    y.row(r)[j] = v > 0 ? v : slope * v;
  }
};
struct prelu_grad_kernel : prelu_call {
  row_array d = input(2), dx = output(0);

  LAMINA_INLINE LAMINA_FN void run(int j) const {
    const int r = columns.divide(j);
    const float slope = alpha.at(width_of_slope.quotient(j)), grad = d.row(r)[j];
    dx.row(r)[j] = x.row(r)[j] > 0 ? grad : slope * grad;
  }
};
struct prelu_slope_kernel : prelu_call {
  row_array d = input(2);
  part_numbers d_alpha{output(1)};
  int lines = columns.divisor() / width_of_slope.divisor(), width = rows * width_of_slope.divisor();
  bool side_by_side = width_of_slope.divisor() == 1;

  template <class Team>
  LAMINA_INLINE LAMINA_FN void line(int k, const Team& team) const {
    const int n = width_of_slope.divisor();
    double sum = 0;
    for (int t = team.rank(); t < rows * n; t += team.size()) {
      int j = t;
      const int r = width_of_slope.divide(j);
      j += k * n;
      const float v = x.row(r)[j];
      sum += v > 0 ? 0.0 : static_cast<double>(d.row(r)[j] * v);
    }
    sum = sum_of(team, sum);
    if (team.rank() == 0) d_alpha.at(k) = static_cast<float>(sum);
  }
};

/// Element j of a row of Out is the maximum of `groups` elements of X, which are the elements of a
/// channel apart.
struct maxout_call : kernel_call {
  row_array x = input(0);
  divider inner{channel_width(input(0))};
  int groups = integer(0);

  /// The index of the first of these elements.
  LAMINA_INLINE LAMINA_FN int first(int j) const {
    const int channel = inner.divide(j);
    return channel * groups * inner.divisor() + j;
  }
};
struct maxout_kernel : maxout_call {
  row_array y = output(0);
  divider columns{output(0).columns};
  int count = output(0).rows * output(0).columns;

  LAMINA_INLINE LAMINA_FN void run(int j) const {
    const int r = columns.divide(j);
    const float* const from = x.row(r) + first(j);
    float best = *from;
    for (int g = 1; g < groups; ++g) best = math::maximum(best, from[g * inner.divisor()]);
    y.row(r)[j] = best;
  }
};
/// If several elements are equally large, the first of them gets the gradient.
struct maxout_grad_kernel : maxout_call {
  row_array y = input(1), d = input(2), dx = output(0);
  divider columns{input(1).columns};
  int count = input(1).rows * input(1).columns;

  LAMINA_INLINE LAMINA_FN void run(int j) const {
    const int r = columns.divide(j), begin = first(j), step = inner.divisor();
    const float* const from = x.row(r) + begin;
    float* const to = dx.row(r) + begin;
    const float best = y.row(r)[j], grad = d.row(r)[j];
    bool given = false;
    for (int g = 0; g < groups; ++g) {
      const bool receives = !given && (math::is_same(from[g * step], best) || g + 1 == groups);
      to[g * step] = receives ? grad : 0.0f;
      given = given || receives;
    }
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::prelu> : elements_call<detail::prelu_kernel> {};
template <>
struct call_kernel<gradient_of<operators::prelu>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    require_float(c, c.input(0));
    if (c.output(0)) launch_elements<detail::prelu_grad_kernel>(b, c);
    if (c.output(1)) launch_lines<detail::prelu_slope_kernel>(b, c);
  }
};

template <>
struct call_kernel<operators::maxout> : elements_call<detail::maxout_kernel> {};
template <>
struct call_kernel<gradient_of<operators::maxout>> : elements_call<detail::maxout_grad_kernel> {};

}}}  // namespace lamina::engine::cuda
