// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/metric_kernels.hpp - top_k, accuracy, auc, one_hot.
#pragma once

#include <cmath>

#include <lamina/engine/cuda/part_copy.hpp>
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

namespace detail {

/// One team; a thread has some of the thresholds, counts their rows, and what the curve is over
/// them. All numbers are whole, or halves: equal in any order.
struct auc_lines {
  struct arguments {
    argument_view predict, label, area, positive, negative;
    double* parts;  // three of a thread
    int thresholds;
    fault_word* fault;
    int group;
    int lines, width, count;
  };
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int, const Team& team) {
    const int each = (a.thresholds + team.size()) / team.size(), first = team.rank() * each;
    const int end = first + each < a.thresholds + 1 ? first + each : a.thresholds + 1;
    for (int r = 0; r < a.predict.rows; ++r) {
      const float score = a.predict.row<const float>(r)[a.predict.columns - 1];
      if (!(score >= 0 && score <= 1)) {
        if (team.rank() == 0)
          report_fault(a.fault, a.group, r * a.predict.columns + a.predict.columns - 1);
        continue;
      }
      const int bin = static_cast<int>(score * static_cast<float>(a.thresholds));
      if (bin < first || bin >= end) continue;
      const argument_view& to = a.label.integer(r * a.label.columns) > 0 ? a.positive : a.negative;
      const std::ptrdiff_t at = place(to, bin);
      store_integer(to.data, to.type, at, load_integer(to.data, to.type, at) + 1);
    }
    // Trapezoids under the curve, from the highest score down; of a thread's own as if it began.
    double area = 0, p = 0, n = 0;
    for (int i = end; i-- > first;) {
      const double more = static_cast<double>(a.positive.integer(i));
      const double wide = static_cast<double>(a.negative.integer(i));
      area += wide * (p + p + more) / 2;
      p += more;
      n += wide;
    }
    double* const own = a.parts + 3 * team.rank();
    own[0] = area, own[1] = p, own[2] = n;
    team.barrier();
    if (team.rank() != 0 || !a.area) return;
    area = p = n = 0;
    for (int t = team.size(); t-- > 0;) {
      const double* const part = a.parts + 3 * t;
      area += part[0] + part[2] * p;
      p += part[1];
      n += part[2];
    }
    store_number(a.area.data, a.area.type, 0, p > 0 && n > 0 ? area / p / n : 0.0);
  }

 private:
  static LAMINA_INLINE LAMINA_FN std::ptrdiff_t place(const argument_view& o, int i) {
    return i / o.columns * o.stride + i % o.columns;
  }
};

}  // namespace detail

template <>
struct call_kernel<auc> {
  static constexpr checked_input checked{0, "prediction", chosen::fraction};
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    require_float(c, c.input(0));
    const int thresholds = c.integer(1);
    if (text_of(c, 0) != "ROC") fail(c, {"expected the curve 'ROC', found '", text_of(c, 0), "'"});
    const auto counts = [](const operand& o) { return layout_of(o).size(); };
    const operand positive = c.output(1), negative = c.output(2);
    if (counts(positive) != thresholds + 1 || counts(negative) != thresholds + 1)
      fail(c, {"expected ", thresholds + 1, " counts in StatPosOut and StatNegOut, found ",
               counts(positive), " and ", counts(negative)});
    keep(b, c.input(2), positive);
    keep(b, c.input(3), negative);
    b.template lines<team_lines<detail::auc_lines>>(
        {c.in(0), c.in(1), c.out(0), view_of_operand(positive), view_of_operand(negative),
         reinterpret_cast<double*>(c.run.scratch), thresholds, c.run.fault, c.number_of_group, 1,
         thresholds + 1, 1});
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_site&) {
    return 6 * most_threads;
  }

 private:
  static constexpr int most_threads = 1024;  // of a team
  template <class Backend>
  static void keep(Backend& b, const operand& from, const operand& to) {
    if (from.data != to.data) copy_elements(b, from, to);
  }
};

}  // namespace lamina::engine::cuda
