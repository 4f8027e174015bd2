// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/cross_entropy/cuda.cuh - kernels of the cross entropy between probabilities
// or logits and labels.
#pragma once

#include <lamina/core/config.hpp>

#include <limits>

#include <lamina/core/numbers/math.hpp>
#include <lamina/engine/cuda/schedule/call_context.hpp>
#include <lamina/operators/activation/softmax/cuda.cuh>
#include <lamina/operators/loss/cross_entropy/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

LAMINA_FN inline float clipped_log(float p) {
  const float l = math::log(p);
  return l < -1e20f ? -1e20f : l > 1e20f ? 1e20f : l;
}
/// Returns d / p, or 0 if d is 0. The result is limited so that a sum of several quotients stays
/// finite. The gradient of a softmax multiplies the quotient by p again: if p is 0, an infinite
/// quotient would give NaN.
LAMINA_FN inline float finite_ratio(float d, float p) {
  constexpr float most = (std::numeric_limits<float>::max)() / 1024;
  const float ratio = d / p;
  return d == 0 ? 0.0f : ratio < -most ? -most : ratio > most ? most : ratio;
}
/// Starts one team of threads per line. Passes the kernel soft_label and ignore_index.
inline void share_labelled(const call_context& c, call_arguments& a, const argument_view& lines) {
  a.integer[0] = c.integer(0);
  a.integer[1] = c.integer(1);
  c.share_lines(a, lines);
}

/// The base of the forward kernels: they check that labels are numbers of classes.
struct label_kernel {
  static constexpr checked_input checked{1, "label"};

  /// Computes the cost of line i from the costs cost_of(j) of all classes j: their sum weighted by
  /// the soft labels, or the cost of the class that the label names.
  template <class Team, class F>
  static LAMINA_FN void line_cost(const call_arguments& a, int i, const Team& team,
                                  const argument_view& to, const F& cost_of) {
    const int n = a.in[0].line;
    float cost = 0;
    if (a.integer[0] != 0) {
      const float* const y = a.in[1].template line_at<const float>(i);
      // The loop is not unrolled, because an unrolled loop would need more registers than a thread
      // has.
      LAMINA_CUDA_KEEP_LOOP
      for (int j = team.rank(); j < n; j += team.size())
        cost += y[j] == 0 ? 0.0f : y[j] * cost_of(j);
      cost = sum_of(team, cost);
    } else if (team.rank() == 0) {
      const std::int64_t l = a.label(a.in[1], i, n, a.integer[1]);
      if (l >= 0) cost = cost_of(l);
    }
    if (team.rank() == 0) *to.template line_at<float>(i) = cost;
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::softmax_with_cross_entropy> : detail::label_kernel {
  static void prepare(const call_context& c, call_arguments& a) {
    c.set_arrays(a, 2, 2);
    require_float(c, c.input(0));
    detail::share_labelled(c, a, a.in[0]);
  }
  template <class Team>
  static LAMINA_FN void line(const call_arguments& a, int i, const Team& team) {
    const int n = a.in[0].line;
    const float* const x = a.in[0].line_at<const float>(i);
    const auto [log_sum, most] = detail::softmax_line(x, a.out[0].line_at<float>(i), n, team);
    line_cost(a, i, team, a.out[1],
              [x, sum = log_sum, top = most](std::int64_t j) { return sum + (top - x[j]); });
  }
};

template <>
struct call_kernel<gradient_of<operators::softmax_with_cross_entropy>> {
  static void prepare(const call_context& c, call_arguments& a) {
    c.set_arrays(a, 3, 1);
    detail::share_labelled(c, a, a.out[0]);
  }
  template <class Team>
  static LAMINA_FN void line(const call_arguments& a, int i, const Team& team) {
    const int n = a.out[0].line;
    const float g = *a.in[2].line_at<const float>(i);
    const float* const p = a.in[1].line_at<const float>(i);
    float* const d = a.out[0].line_at<float>(i);
    // The forward kernel has already reported labels that are out of range.
    const std::int64_t l = a.integer[0] != 0 ? 0 : a.in[0].integer(i);
    if (g == 0 || (a.integer[0] == 0 && l == a.integer[1])) {
      // The gradient is 0, even if logits are NaN or infinite.
      for (int j = team.rank(); j < n; j += team.size()) d[j] = 0;
      return;
    }
    if (a.integer[0] != 0) {
      const float* const y = a.in[0].line_at<const float>(i);
      float total = 0;
      for (int j = team.rank(); j < n; j += team.size()) total += y[j];
      total = sum_of(team, total);
      for (int j = team.rank(); j < n; j += team.size()) d[j] = (p[j] * total - y[j]) * g;
      return;
    }
    for (int j = team.rank(); j < n; j += team.size()) d[j] = p[j] * g - (j == l ? g : 0.0f);
  }
};

template <>
struct call_kernel<operators::cross_entropy> : detail::label_kernel {
  static void prepare(const call_context& c, call_arguments& a) {
    c.set_arrays(a, 2, 1);
    require_float(c, c.input(0));
    detail::share_labelled(c, a, a.in[0]);
  }
  template <class Team>
  static LAMINA_FN void line(const call_arguments& a, int i, const Team& team) {
    const float* const x = a.in[0].line_at<const float>(i);
    line_cost(a, i, team, a.out[0], [=](std::int64_t j) { return -detail::clipped_log(x[j]); });
  }
};

template <>
struct call_kernel<gradient_of<operators::cross_entropy>> {
  static void prepare(const call_context& c, call_arguments& a) {
    c.set_arrays(a, 3, 1);
    detail::share_labelled(c, a, a.in[0]);
  }
  template <class Team>
  static LAMINA_FN void line(const call_arguments& a, int i, const Team& team) {
    const int n = a.in[0].line;
    const float* const x = a.in[0].line_at<const float>(i);
    const float d = *a.in[2].line_at<const float>(i);
    float* const g = a.out[0].line_at<float>(i);
    if (a.integer[0] != 0) {
      const float* const l = a.in[1].line_at<const float>(i);
      for (int j = team.rank(); j < n; j += team.size())
        g[j] = detail::finite_ratio(-d * l[j], x[j]);
      return;
    }
    const std::int64_t l = a.in[1].integer(i);
    for (int j = team.rank(); j < n; j += team.size())
      g[j] = j == l && l != a.integer[1] ? detail::finite_ratio(-d, x[j]) : 0.0f;
  }
};

}}}  // namespace lamina::engine::cuda
