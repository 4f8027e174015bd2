// SPDX-License-Identifier: Apache-2.0
// lamina/operators/metric/classification/cuda.cuh - the kernels of top_k, accuracy, auc and
// one_hot.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>

#include <lamina/operators/metric/classification/definition.hpp>
#include <lamina/operators/order/argsort/cuda.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// Finds the k largest elements of a line one after the other, in O(k n). Equal elements keep their
/// order, and NaN ranks above all numbers. The lines are not sorted, because the sort would add
/// nine seconds to the nvcc compile time of each program with an accuracy.
struct best_lines {
  static void prepare(const call_context& c, call_arguments& a) {
    c.set_arrays(a, 1, 2);
    a.integer[0] = c.integer(0);
    c.share_lines(a, a.in[0]);
  }
  template <class Team>
  static LAMINA_FN void line(const call_arguments& a, int i, const Team& team) {
    const int n = a.in[0].line, k = a.integer[0];
    const float* const x = a.in[0].line_at<const float>(i);
    int last = -1;
    for (int position = 0; position < k; ++position) {
      // Finds the element that follows the last one found: the largest among smaller elements and
      // among equal elements with a later index.
      int best = n;
      for (int j = team.rank(); j < n; j += team.size()) {
        const bool follows =
            last < 0 || math::is_above(x[last], x[j]) || (math::is_same(x[j], x[last]) && j > last);
        if (follows && (best == n || math::is_above(x[j], x[best]))) best = j;
      }
      const float most = largest_of(team, best < n ? x[best] : -HUGE_VALF);
      best = smallest_of(team, best < n && math::is_same(x[best], most) ? best : n);
      last = best < n ? best : 0;
      if (team.rank() == 0) {
        a.out[0].line_at<float>(i)[position] = x[last];
        a.out[1].line_at<std::int64_t>(i)[position] = last;
      }
    }
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::top_k> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    require_float(c, c.input(0));
    const int n = c.in(0).line, k = c.integer(0);
    if (k < 1 || k > n) fail(c, {"expected k from 1 to ", n, ", found ", k});
    call_arguments a{};
    detail::best_lines::prepare(c, a);
    if (a.lines > 0) b.template lines<line_body<detail::best_lines>>(a);
  }
};

/// Each of the k largest elements of X gets the gradient of its position in Out; all other elements
/// get 0.
template <>
struct call_kernel<gradient_of<operators::top_k>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand dx = c.output(0);
    if (!dx) return;
    fill(b, dx, 0);
    detail::scatter_grads(b, c, -1, c.input(2), dx, c.input(1));
  }
};

/// Writes a line for each index: 1 at the position of the index, 0 elsewhere.
template <>
struct call_kernel<operators::one_hot> {
  static constexpr checked_input checked{0, "number", chosen::attribute};
  static void prepare(const call_context& c, call_arguments& a) {
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

/// One team counts the lines whose label is among the indices. A label with the score NaN does not
/// count.
template <>
struct call_kernel<operators::accuracy> {
  static void prepare(const call_context& c, call_arguments& a) {
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
      int j = 0;
      while (j < k && found[j] != wanted) ++j;
      hits += j < k && is_number(a, i, j) ? 1 : 0;
    }
    hits = sum_of(team, hits);
    if (team.rank() != 0) return;
    if (a.out[0])
      store_number(a.out[0].data, a.out[0].type, 0,
                   all == 0 ? 0.0 : static_cast<double>(hits) / static_cast<double>(all));
    if (a.out[1]) store_number(a.out[1].data, a.out[1].type, 0, hits);
    if (a.out[2]) store_number(a.out[2].data, a.out[2].type, 0, all);
  }

 private:
  /// Whether the score at element j of line i is not NaN. The scores have the same layout as their
  /// indices.
  static LAMINA_INLINE LAMINA_FN bool is_number(const call_arguments& a, int i, int j) {
    const int n = a.in[1].in_row();
    const double score =
        load_number(a.in[0].data, a.in[0].type,
                    i / n * static_cast<std::ptrdiff_t>(a.in[0].stride) + i % n * a.in[1].line + j);
    return score == score;
  }
};

namespace detail {

struct auc_arguments {
  argument_view predict, label, area, positive, negative;
  int thresholds;
  int *bins, *counts;   // bin of each row; rows per bin, positive ones first
  std::int64_t* above;  // cumulative counts: positive rows, then negative
  fault_word* fault;
  int group;
  int lines, width, count;
};
/// Computes the bin of a row. The bins of negative rows follow the bins of positive rows.
struct auc_bins_body {
  using arguments = auc_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int r) {
    const float score = a.predict.row<const float>(r)[a.predict.columns - 1];
    a.bins[r] = -1;
    if (!(score >= 0 && score <= 1))
      return report_fault(a.fault, a.group, r * a.predict.columns + a.predict.columns - 1);
    const int bin = static_cast<int>(score * static_cast<float>(a.thresholds));
    a.bins[r] = a.label.integer(r * a.label.columns) > 0 ? bin : a.thresholds + 1 + bin;
  }
};
struct auc_counts_body {
  using arguments = auc_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    add(a.positive, i, a.counts[i]);
    add(a.negative, i, a.counts[a.thresholds + 1 + i]);
  }

 private:
  static LAMINA_INLINE LAMINA_FN void add(const argument_view& to, int i, int more) {
    const std::ptrdiff_t at = i / to.columns * to.stride + i % to.columns;
    store_integer(to.data, to.type, at, load_integer(to.data, to.type, at) + more);
  }
};
/// Adds up the counts of the bins, from the highest bin to the lowest.
struct auc_above {
  using arguments = auc_arguments;
  using value = std::int64_t;
  static LAMINA_INLINE LAMINA_FN value load(const arguments& a, int side, int k) {
    return (side == 0 ? a.positive : a.negative).integer(a.thresholds - k);
  }
  static LAMINA_INLINE LAMINA_FN void store(const arguments& a, int side, int k, value sum) {
    a.above[side * (a.thresholds + 1) + k] = sum;
  }
};
/// Adds up the areas of the trapezoids under the ROC curve. All terms are multiples of 1/2, so the
/// sum is exact in any order.
struct auc_area_lines {
  using arguments = auc_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int, const Team& team) {
    const std::int64_t *const p = a.above, *const n = p + a.thresholds + 1;
    double area = 0;
    for (int k = team.rank(); k <= a.thresholds; k += team.size()) {
      const std::int64_t high = p[k] + (k > 0 ? p[k - 1] : 0), wide = n[k] - (k > 0 ? n[k - 1] : 0);
      area += static_cast<double>(wide) * static_cast<double>(high) / 2;
    }
    area = sum_of(team, area);
    const double positive = static_cast<double>(p[a.thresholds]);
    const double negative = static_cast<double>(n[a.thresholds]);
    if (team.rank() == 0)
      store_number(a.area.data, a.area.type, 0,
                   positive > 0 && negative > 0 ? area / positive / negative : 0.0);
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::auc> {
  static constexpr checked_input checked{0, "prediction", chosen::fraction};
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
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
    scratch_arena arena(c.run.scratch);
    detail::auc_arguments a = arguments(c, arena);
    a.count = a.predict.rows;
    b.template elements<detail::auc_bins_body>(a);
    b.run_algorithm(histogram(a), arena.rest());
    a.count = a.width = thresholds + 1;
    b.template elements<detail::auc_counts_body>(a);
    if (!a.area) return;
    b.run_algorithm(algorithm::scan_lines<detail::auc_above>{a, 2, thresholds + 1, false});
    b.template lines<team_lines<detail::auc_area_lines>>(a);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    scratch_arena arena(nullptr);
    const auto a = histogram(arguments(c, arena));
    return arena.used() + algorithm_floats<Backend>(a);
  }

 private:
  static detail::auc_arguments arguments(const call_context& c, scratch_arena& arena) {
    detail::auc_arguments a{};
    a.predict = c.in(0);
    a.label = c.in(1);
    a.area = c.out(0);
    a.positive = c.out(1);
    a.negative = c.out(2);
    a.thresholds = c.integer(1);
    a.bins = arena.take<int>(a.predict.rows);
    a.counts = arena.take<int>(2 * (a.thresholds + 1));
    a.above = arena.take<std::int64_t>(2 * (a.thresholds + 1));
    a.fault = c.run.fault;
    a.group = c.number_of_group;
    a.lines = 1;
    return a;
  }
  static algorithm::histogram<int> histogram(const detail::auc_arguments& a) {
    return {a.bins, a.counts, a.predict.rows, 2 * (a.thresholds + 1)};
  }
  template <class Backend>
  static void keep(Backend& b, const operand& from, const operand& to) {
    if (from.data != to.data) copy_elements(b, from, to);
  }
};

}}}  // namespace lamina::engine::cuda
