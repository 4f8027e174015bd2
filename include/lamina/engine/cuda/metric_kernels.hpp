// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/metric_kernels.hpp - top_k, accuracy, mean.
#pragma once

#include <cmath>

#include <lamina/engine/cuda/call_site.hpp>
#include <lamina/operators/mean.hpp>
#include <lamina/operators/metric.hpp>

namespace lamina::engine::cuda {

/// The best k of a line, one after the other; of equal ones the first comes first.
template <>
struct call_kernel<top_k> {
  static void prepare(const call_site& c, call_arguments& a) {
    c.set_arrays(a, 1, 2);
    require_float(c, c.input(0));
    a.integer[0] = c.integer(0);
    if (a.integer[0] < 1 || a.integer[0] > a.in[0].line)
      fail(c, {"expected k from 1 to ", a.in[0].line, ", found ", a.integer[0]});
    c.share_lines(a, a.in[0]);
  }
  template <class Team>
  static LAMINA_FN void line(const call_arguments& a, int i, const Team& team) {
    const int n = a.in[0].line, k = a.integer[0];
    const float* const x = a.in[0].line_at<const float>(i);
    int last = -1;
    for (int place = 0; place < k; ++place) {
      // The largest behind the last one found: smaller, or as large and further on.
      int best = n;
      for (int j = team.rank(); j < n; j += team.size()) {
        const bool follows = last < 0 || x[j] < x[last] || (x[j] == x[last] && j > last);
        if (follows && (best == n || x[j] > x[best])) best = j;
      }
      const float most = largest_of(team, best < n ? x[best] : -HUGE_VALF);
      best = smallest_of(team, best < n && x[best] >= most ? best : n);
      last = best < n ? best : 0;
      if (team.rank() == 0) {
        a.out[0].line_at<float>(i)[place] = x[last];
        a.out[1].line_at<std::int64_t>(i)[place] = last;
      }
    }
  }
};

/// Each element of X takes the slope of the place that it has among the best, if any.
template <>
struct call_kernel<gradient_of<top_k>> {
  static void prepare(const call_site& c, call_arguments& a) {
    c.set_arrays(a, 3, 1);
    require_float(c, c.output(0));
    a.integer[0] = c.integer(0);
    c.share_lines(a, a.out[0]);
  }
  template <class Team>
  static LAMINA_FN void line(const call_arguments& a, int i, const Team& team) {
    const std::int64_t* const index = a.in[1].line_at<const std::int64_t>(i);
    const float* const d = a.in[2].line_at<const float>(i);
    float* const to = a.out[0].line_at<float>(i);
    for (int j = team.rank(); j < a.out[0].line; j += team.size()) {
      float slope = 0;
      for (int place = 0; place < a.integer[0]; ++place) slope += index[place] == j ? d[place] : 0;
      to[j] = slope;
    }
  }
};

/// A line of zeros for each number, and a one at its place.
template <>
struct call_kernel<one_hot> {
  static constexpr checked_input checked{0, "number", chosen::attribute};
  static void prepare(const call_site& c, call_arguments& a) {
    c.set_arrays(a, 1, 1);
    require_float(c, c.output(0));
    a.integer[0] = c.integer(0);
    a.integer[1] = c.integer(1);
    a.lines = a.in[0].rows * a.in[0].columns;
    a.width = a.integer[0];
  }
  template <class Team>
  static LAMINA_FN void line(const call_arguments& a, int i, const Team& team) {
    const int depth = a.integer[0], n = a.in[0].columns;
    const std::int64_t k = a.in[0].integer(i);
    if ((k < 0 || k >= depth) && a.integer[1] == 0 && team.rank() == 0) a.report(i);
    float* const to = a.out[0].row<float>(i / n) + static_cast<std::ptrdiff_t>(i % n) * depth;
    for (int j = team.rank(); j < depth; j += team.size()) to[j] = j == k ? 1.0f : 0.0f;
  }
};

/// One team counts the lines whose label is among the best.
template <>
struct call_kernel<accuracy> {
  static void prepare(const call_site& c, call_arguments& a) {
    c.set_arrays(a, 3, 3);
    a.lines = 1;
    a.width = a.in[1].lines();
  }
  template <class Team>
  static LAMINA_FN void line(const call_arguments& a, int, const Team& team) {
    const int all = a.in[1].lines(), k = a.in[1].line;
    int hits = 0;
    for (int i = team.rank(); i < all; i += team.size()) {
      const std::int64_t wanted = a.in[2].integer(i);
      const std::int64_t* const found = a.in[1].line_at<const std::int64_t>(i);
      bool hit = false;
      for (int j = 0; j < k; ++j) hit = hit || found[j] == wanted;
      hits += hit ? 1 : 0;
    }
    hits = sum_of(team, hits);
    if (team.rank() != 0) return;
    if (a.out[0])
      store_number(a.out[0].data, a.out[0].type, 0,
                   all == 0 ? 0.0 : static_cast<double>(hits) / static_cast<double>(all));
    if (a.out[1]) store_number(a.out[1].data, a.out[1].type, 0, hits);
    if (a.out[2]) store_number(a.out[2].data, a.out[2].type, 0, all);
  }
};

/// One team adds everything up, in double.
template <>
struct call_kernel<mean> {
  static void prepare(const call_site& c, call_arguments& a) {
    c.set_arrays(a, 1, 1);
    require_float(c, c.input(0));
    a.lines = 1;
    a.width = a.in[0].rows * a.in[0].columns;
  }
  template <class Team>
  static LAMINA_FN void line(const call_arguments& a, int, const Team& team) {
    const argument_view& x = a.in[0];
    const std::int64_t all = static_cast<std::int64_t>(x.rows) * x.columns;
    double sum = 0;
    for (std::int64_t i = team.rank(); i < all; i += team.size())
      sum +=
          static_cast<double>(x.row<const float>(static_cast<int>(i / x.columns))[i % x.columns]);
    sum = sum_of(team, sum);
    if (team.rank() == 0)
      store_number(a.out[0].data, a.out[0].type, 0, all > 0 ? sum / static_cast<double>(all) : 0.0);
  }
};

}  // namespace lamina::engine::cuda
