// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/row/cuda.cuh - kernels of smooth_l1_loss, kldiv_loss, bpr_loss and
// label_smooth, which compute on whole rows.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/bound_kernel.cuh>
#include <lamina/engine/cuda/body/element_sum.cuh>
#include <lamina/operators/loss/row/common.hpp>
#include <lamina/operators/loss/row/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

struct smooth_l1_call : kernel_call {
  float s2 = static_cast<float>(call->number(0) * call->number(0));
};
/// One team computes the cost of one row.
struct smooth_l1_kernel : smooth_l1_call {
  row_array x = input(0), y = input(1), inside = input(2), outside = input(3);
  row_array diff = output(0), out = output(1);
  int lines = out ? input(0).rows : 0, width = input(0).columns;

  template <class Team>
  LAMINA_INLINE LAMINA_FN void line(int r, const Team& team) const {
    float total = 0;
    for (int j = team.rank(); j < width; j += team.size()) {
      float d = x.row(r)[j] - y.row(r)[j];
      // An element with weight 0 has no effect, even if it is infinite.
      if (inside) d = inside.row(r)[j] == 0 ? 0.0f : d * inside.row(r)[j];
      if (diff) diff.row(r)[j] = d;
      const float size = math::abs(d);
      const float cost = size < 1 / s2 ? 0.5f * size * size * s2 : size - 0.5f / s2;
      const float weight = outside ? outside.row(r)[j] : 1.0f;
      total += weight == 0 ? 0.0f : cost * weight;
    }
    total = sum_of(team, total);
    if (team.rank() == 0) *out.row(r) = total;
  }
};
struct smooth_l1_grad_kernel : smooth_l1_call {
  row_array inside = input(0), outside = input(1), diff = input(2), grad = input(3);
  row_array dx = output(0), dy = output(1);
  int lines = input(2).rows, width = input(2).columns;

  template <class Team>
  LAMINA_INLINE LAMINA_FN void line(int r, const Team& team) const {
    const float of_row = *grad.row(r);
    for (int j = team.rank(); j < width; j += team.size()) {
      const float d = diff.row(r)[j];
      float g = math::abs(d) >= 1 / s2 ? (d > 0 ? 1.0f : -1.0f) : s2 * d;
      g *= of_row;
      float weight = inside ? inside.row(r)[j] : 1.0f;
      if (outside) weight *= outside.row(r)[j];
      g = weight == 0 ? 0.0f : g * weight;
      if (dx) dx.row(r)[j] = g;
      if (dy) dy.row(r)[j] = -g;
    }
  }
};

struct kldiv_arguments {
  row_array x, target, to;
  divider columns;
  const float* grad;  // the one gradient for all elements, or null
  float factor;
  int count;

  LAMINA_INLINE LAMINA_FN float cost(int row, int j) const {
    const float t = target.row(row)[j];
    return t <= 0 ? 0.0f : t * (math::log(t) - x.row(row)[j]);
  }
  /// The cost of element i. element_sum adds up these costs.
  LAMINA_INLINE LAMINA_FN double operator()(int i) const {
    const int row = columns.divide(i);
    return static_cast<double>(cost(row, i));
  }
};
struct kldiv_body {
  using arguments = kldiv_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const int row = a.columns.divide(i);
    a.to.row(row)[i] = a.cost(row, i);
  }
};
/// Computes the gradient of X. `grad` is the gradient of the reduced cost; if it is null, there is
/// no reduction, and `x` holds the gradient of each element's cost.
struct kldiv_grad_body {
  using arguments = kldiv_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const int row = a.columns.divide(i);
    const float t = a.target.row(row)[i];
    const float d = a.grad != nullptr ? *a.grad : a.x.row(row)[i];
    a.to.row(row)[i] = t <= 0 ? 0.0f : -d * t * a.factor;
  }
};
struct label_smooth_body {
  struct arguments {
    row_array from, to;
    divider columns, line;
    const float* prior;  // null: all classes are equally likely
    float keeps, adds;   // `adds`: epsilon, or epsilon / K without a prior
    int count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const int row = a.columns.divide(i);
    int j = i;
    a.line.divide(j);
    const float added = a.prior != nullptr ? a.adds * a.prior[j] : a.adds;
    a.to.row(row)[i] = a.keeps * a.from.row(row)[i] + added;
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::smooth_l1_loss> : lines_call<detail::smooth_l1_kernel> {};
template <>
struct call_kernel<gradient_of<operators::smooth_l1_loss>>
    : lines_call<detail::smooth_l1_grad_kernel> {};

template <>
struct call_kernel<operators::kldiv_loss> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), out = c.output(0);
    require_float(c, x);
    const kldiv_reduction how = kldiv_reduction_of(c);
    detail::kldiv_arguments a{};
    a.x = x, a.target = c.input(1), a.to = out;
    a.columns = divider(x.columns);
    a.count = x.rows * x.columns;
    if (how == kldiv_reduction::none) return b.template elements<detail::kldiv_body>(a);
    sum_terms(b, a.count, a, scaled_sum{out.row<float>(0), kldiv_factor(how, x)}, c.run.scratch);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    const operand x = c.input(0);
    return sum_scratch<detail::kldiv_arguments, scaled_sum, Backend>(x.rows * x.columns);
  }
};
template <>
struct call_kernel<gradient_of<operators::kldiv_loss>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand target = c.input(0), grad = c.input(1), dx = c.output(0);
    if (!dx) return;
    const kldiv_reduction how = kldiv_reduction_of(c);
    detail::kldiv_arguments a{};
    a.x = grad, a.target = target, a.to = dx;
    a.columns = divider(dx.columns);
    a.grad = how == kldiv_reduction::none ? nullptr : grad.row<const float>(0);
    a.factor = static_cast<float>(kldiv_factor(how, target));
    a.count = dx.rows * dx.columns;
    b.template elements<detail::kldiv_grad_body>(a);
  }
};

template <>
struct call_kernel<operators::bpr_loss> {
  static constexpr checked_input checked{1, "label"};
  static constexpr int ignored = -100;
  static void prepare(const call_context& c, call_arguments& a) {
    c.set_arrays(a, 2, 1);
    require_float(c, c.input(0));
    c.share_lines(a, a.in[0]);
  }
  template <class Team>
  static LAMINA_FN void line(const call_arguments& a, int i, const Team& team) {
    const int n = a.in[0].line;
    const float* const x = a.in[0].line_at<const float>(i);
    const std::int64_t l = a.in[1].integer(i);
    const bool counts = l >= 0 && l < n;
    if (!counts && l != ignored && team.rank() == 0) a.report(i);
    float cost = 0;
    for (int j = team.rank(); counts && j < n; j += team.size()) {
      const float d = x[j] - x[counts ? l : 0];
      if (j != l) cost += (d > 0 ? d : 0.0f) + math::log(1.0f + math::exp(-math::abs(d)));
    }
    cost = sum_of(team, cost);
    if (team.rank() == 0)
      *a.out[0].line_at<float>(i) = n > 1 ? cost / static_cast<float>(n - 1) : 0.0f;
  }
};
template <>
struct call_kernel<gradient_of<operators::bpr_loss>> {
  static void prepare(const call_context& c, call_arguments& a) {
    c.set_arrays(a, 3, 1);
    c.share_lines(a, a.out[0]);
  }
  template <class Team>
  static LAMINA_FN void line(const call_arguments& a, int i, const Team& team) {
    const int n = a.out[0].line;
    const float* const x = a.in[0].line_at<const float>(i);
    float* const g = a.out[0].line_at<float>(i);
    const std::int64_t l = a.in[1].integer(i);
    // The forward kernel has already reported labels that are out of range.
    const bool counts = l >= 0 && l < n && n > 1;
    const float d = counts ? *a.in[2].line_at<const float>(i) / static_cast<float>(n - 1) : 0.0f;
    const float own = x[counts ? l : 0];
    float total = 0;
    for (int j = team.rank(); j < n; j += team.size()) {
      if (counts && j == l) continue;
      g[j] = counts ? d / (1.0f + math::exp(own - x[j])) : 0.0f;
      total += g[j];
    }
    total = sum_of(team, total);
    if (counts && team.rank() == 0) g[l] = -total;
  }
};

template <>
struct call_kernel<operators::label_smooth> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), prior = c.input(1), out = c.output(0);
    require_float(c, x);
    const float epsilon = static_cast<float>(c.number(0));
    const int classes = at_least_one(view_of_operand(x).line);
    const float each = prior ? 1.0f : 1.0f / static_cast<float>(classes);
    b.template elements<detail::label_smooth_body>(
        {x, out, divider(x.columns), divider(classes), prior ? prior.row<const float>(0) : nullptr,
         1 - epsilon, epsilon * each, x.rows * x.columns});
  }
};
template <>
struct call_kernel<gradient_of<operators::label_smooth>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand dx = c.output(0);
    if (dx)
      b.template elements<detail::label_smooth_body>(
          {c.input(0), dx, divider(dx.columns), divider(dx.columns), nullptr,
           1 - static_cast<float>(c.number(0)), 0.0f, dx.rows * dx.columns});
  }
};

}}}  // namespace lamina::engine::cuda
