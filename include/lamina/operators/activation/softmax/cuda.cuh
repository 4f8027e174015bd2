// SPDX-License-Identifier: Apache-2.0
// lamina/operators/activation/softmax/cuda.cuh - kernels of the softmax along one dimension.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/math.hpp>
#include <lamina/engine/cuda/schedule/call_context.hpp>
#include <lamina/operators/activation/softmax/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// The divisor of a softmax, e^(largest + log_sum), where log_sum is the logarithm of the sum of
/// e^(x - largest). The two terms are stored separately, because their sum would lose digits if all
/// numbers share a large offset.
struct softmax_partition {
  float log_sum, largest;
};

/// Computes y = the softmax of the n numbers at x, and returns its divisor. Each thread keeps its
/// first number in a register; in a short line, a thread has no other numbers.
template <class Team>
LAMINA_INLINE LAMINA_FN softmax_partition softmax_line(const float* x, float* y, int n,
                                                       const Team& team) {
  const int first = team.rank(), step = team.size();
  const bool has_first = first < n;
  const float own = x[has_first ? first : 0];
  float most = own;
  for (int j = first + step; j < n; j += step) most = x[j] > most ? x[j] : most;
  most = largest_of(team, most);
  const float part = has_first ? math::exp(own - most) : 0.0f;
  float sum = part;
  // The loops are not unrolled, because they would then need more registers than a thread has.
  LAMINA_CUDA_KEEP_LOOP
  for (int j = first + step; j < n; j += step) sum += y[j] = math::exp(x[j] - most);
  sum = sum_of(team, sum);
  const float factor = 1.0f / sum;
  if (has_first) y[first] = part * factor;
  LAMINA_CUDA_KEEP_LOOP
  for (int j = first + step; j < n; j += step) y[j] *= factor;
  return {math::log(sum), most};
}

inline void share_last_axis(const call_context& c, call_arguments& a) {
  if (c.integer(0) != -1 && a.in[0].columns != a.in[0].line)
    fail(c, {"expected the last dimension as axis"});
  c.share_lines(a, a.in[0]);
}

}  // namespace detail

template <>
struct call_kernel<operators::softmax> {
  static void prepare(const call_context& c, call_arguments& a) {
    c.set_arrays(a, 1, 1);
    require_float(c, c.input(0));
    detail::share_last_axis(c, a);
  }
  template <class Team>
  static LAMINA_FN void line(const call_arguments& a, int i, const Team& team) {
    detail::softmax_line(a.in[0].line_at<const float>(i), a.out[0].line_at<float>(i), a.in[0].line,
                         team);
  }
};

template <>
struct call_kernel<gradient_of<operators::softmax>> {
  static void prepare(const call_context& c, call_arguments& a) {
    c.set_arrays(a, 2, 1);
    detail::share_last_axis(c, a);
  }
  template <class Team>
  static LAMINA_FN void line(const call_arguments& a, int i, const Team& team) {
    const float* const y = a.in[0].line_at<const float>(i);
    const float* const d = a.in[1].line_at<const float>(i);
    float* const g = a.out[0].line_at<float>(i);
    float total = 0;
    for (int j = team.rank(); j < a.in[0].line; j += team.size())
      total += math::multiply_no_nan(y[j], d[j]);
    total = sum_of(team, total);
    for (int j = team.rank(); j < a.in[0].line; j += team.size())
      g[j] = math::multiply_no_nan(y[j], d[j] - total);
  }
};

}}}  // namespace lamina::engine::cuda
