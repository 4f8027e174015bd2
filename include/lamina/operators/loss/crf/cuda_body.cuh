// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/crf/cuda_body.cuh - conditional random fields. A team of threads computes
// each sequence.
//
// As on the CPU (cpu.hpp), the sum of e^score over all paths is computed by products, where each
// row of partial sums is divided by its sum. If transition scores differ so much that a product may
// underflow for a path that matters, the sums are computed as logarithms instead.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/core/numbers/math.hpp>
#include <lamina/engine/cuda/body/recurrent_body.cuh>
#include <lamina/operators/loss/crf/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda::detail {

struct crf_arguments {
  sequence_view all;
  row_array emission, transition;
  argument_view label;  // absent if there are no labels
  row_array alpha, e, w, cost, d;
  row_array dx, dw, behind, pairs, scores;
  row_array logs;   // log(alpha), if sums are computed as logarithms
  row_array grads;  // per row: the gradient of the cost of its sequence
  int* holds;       // whether products represent every path that matters
  int *from, *before;
  std::int64_t* path;
  std::ptrdiff_t path_stride;
  divider tags_divider;
  int tags, rows;
  fault_word* fault;
  int group;
  int lines, width, count;

  /// The label of a row, or 0 if the label is out of range. Only the forward kernels report labels
  /// that are out of range.
  LAMINA_INLINE LAMINA_FN int tag(int row) const {
    const std::int64_t l = label.integer(row * label.columns);
    return l >= 0 && l < tags ? static_cast<int>(l) : 0;
  }
  LAMINA_INLINE LAMINA_FN void check_label(int row) const {
    const std::int64_t l = label.integer(row * label.columns);
    if (l < 0 || l >= tags) report_fault(fault, group, row * label.columns);
  }
  /// Reports a sum of e^score outside of the range of float. If a label is out of range as well,
  /// the label's message is printed.
  LAMINA_INLINE LAMINA_FN void check_sum(float sum) const {
    if (sum >= 0x1p-149f && sum <= 0x1.fffffep127f) return;
    report_fault(fault, group, label.rows * label.columns + (sum == sum ? sum > 0 : 2));
  }
};

constexpr float crf_none = -__builtin_huge_valf();

/// Returns log(e^f(0) + ... + e^f(n - 1)), computed by one thread or by a team; NaN if a term is
/// NaN.
template <class F>
LAMINA_INLINE LAMINA_FN float log_sum_over(int n, const F& f) {
  float most = crf_none, sum = 0;
  LAMINA_CUDA_KEEP_LOOP
  for (int j = 0; j < n; ++j) most = math::maximum(most, f(j));
  if (most == crf_none) return most;
  LAMINA_CUDA_KEEP_LOOP
  for (int j = 0; j < n; ++j) sum += math::exp(f(j) - most);
  return most + math::log(sum);
}
template <class Team, class F>
LAMINA_INLINE LAMINA_FN float log_sum_over(const Team& team, int n, const F& f) {
  float most = crf_none, sum = 0;
  LAMINA_CUDA_KEEP_LOOP
  for (int j = team.rank(); j < n; j += team.size()) most = math::maximum(most, f(j));
  most = largest_of(team, most);
  if (most == crf_none) return most;
  LAMINA_CUDA_KEEP_LOOP
  for (int j = team.rank(); j < n; j += team.size()) sum += math::exp(f(j) - most);
  return most + math::log(sum_of(team, sum));
}
template <class Team>
LAMINA_INLINE LAMINA_FN float crf_largest(const Team& team, const float* x, int n) {
  float most = x[0];
  LAMINA_CUDA_KEEP_LOOP
  for (int j = team.rank(); j < n; j += team.size()) most = x[j] > most ? x[j] : most;
  return largest_of(team, most);
}
/// Returns the score of the path of the labels of a sequence; minus infinity if the path does not
/// exist.
template <class Team>
LAMINA_INLINE LAMINA_FN double crf_path(const crf_arguments& a, int begin, int end,
                                        const Team& team) {
  double path = 0;
  LAMINA_CUDA_KEEP_LOOP
  for (int r = begin + team.rank(); r < end; r += team.size()) {
    const int tag = a.tag(r);
    path += static_cast<double>(a.emission.row(r)[tag]);
    path += static_cast<double>(r > begin ? a.transition.row(2 + a.tag(r - 1))[tag]
                                          : a.transition.row(0)[tag]);
    if (r + 1 == end) path += static_cast<double>(a.transition.row(1)[tag]);
  }
  return sum_of(team, path);
}

/// One team checks whether products of e^score represent every path that matters: no transition
/// score exceeds 15 in size. products_hold() in cpu.hpp derives this bound.
struct crf_hold_lines {
  using arguments = crf_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int, const Team& team) {
    int fails = 0;
    for (int i = team.rank(); i < (a.tags + 2) * a.tags; i += team.size()) {
      int j = i;
      const int row = a.tags_divider.divide(j);
      fails += math::abs(a.transition.row(row)[j]) <= 15 ? 0 : 1;
    }
    fails = sum_of(team, fails);
    if (team.rank() == 0) *a.holds = fails == 0 ? 1 : 0;
  }
};

/// Computes row r of `logs`: the forward variables as logarithms x, normalised so that the sum of
/// e^x is 1. `most` is the largest emission score of the row and is subtracted first. Returns the
/// logarithm that is subtracted afterwards to normalise the row.
template <class Team>
LAMINA_INLINE LAMINA_FN float crf_log_step(const crf_arguments& a, int begin, int r, float most,
                                           const Team& team) {
  const int n = a.tags;
  const float* const before = r > begin ? a.logs.row(r - 1) : nullptr;
  float* const to = a.logs.row(r);
  LAMINA_CUDA_KEEP_LOOP
  for (int j = team.rank(); j < n; j += team.size()) {
    const float ways = before == nullptr ? a.transition.row(0)[j] : log_sum_over(n, [&](int i) {
      return before[i] + a.transition.row(2 + i)[j];
    });
    to[j] = ways + (a.emission.row(r)[j] - most);
  }
  // No barrier is needed here, because each thread reads only elements that it has written itself.
  const float sum = log_sum_over(team, n, [&](int j) { return to[j]; });
  LAMINA_CUDA_KEEP_LOOP
  for (int j = team.rank(); j < n; j += team.size()) to[j] = sum == crf_none ? sum : to[j] - sum;
  team.barrier();
  return sum;
}

/// Computes e^Transition.
struct crf_weight_body {
  using arguments = crf_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    int j = i;
    const int row = a.tags_divider.divide(j);
    a.w.row(row)[j] = math::exp(a.transition.row(row)[j]);
  }
};

struct crf_lines {
  using arguments = crf_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int begin = a.all.begin(s), end = a.all.end(s), n = a.tags;
    LAMINA_CUDA_KEEP_LOOP
    for (int r = begin + team.rank(); r < end; r += team.size()) a.check_label(r);
    const double path = crf_path(a, begin, end, team);
    const bool impossible = path == static_cast<double>(crf_none), by_logs = *a.holds == 0;
    double total = 0;
    LAMINA_CUDA_KEEP_LOOP
    for (int r = begin; r < end; ++r) {
      const float* const x = a.emission.row(r);
      const float most = crf_largest(team, x, n);
      if (impossible || by_logs) {
        float* const alpha = a.alpha.row(r);
        const float sum = impossible ? most : crf_log_step(a, begin, r, most, team);
        if (!impossible) total += static_cast<double>(sum) + static_cast<double>(most);
        if (!impossible && !(sum <= 0x1.fffffep127f) && team.rank() == 0) a.check_sum(sum);
        LAMINA_CUDA_KEEP_LOOP
        for (int j = team.rank(); j < n; j += team.size()) {
          a.e.row(r)[j] = most == crf_none ? 0.0f : math::exp(x[j] - most);
          alpha[j] = impossible ? 0.0f : math::exp(a.logs.row(r)[j]);
        }
        continue;
      }
      float sum = 0;
      LAMINA_CUDA_KEEP_LOOP
      for (int j = team.rank(); j < n; j += team.size()) {
        const float score = a.e.row(r)[j] = math::exp(x[j] - most);
        float ways = r > begin ? 0.0f : a.w.row(0)[j];
        for (int i = 0; r > begin && i < n; ++i) ways += a.alpha.row(r - 1)[i] * a.w.row(2 + i)[j];
        sum += a.alpha.row(r)[j] = ways * score;
      }
      sum = sum_of(team, sum);
      if (team.rank() == 0) a.check_sum(sum);
      const float factor = 1 / sum;
      LAMINA_CUDA_KEEP_LOOP
      for (int j = team.rank(); j < n; j += team.size()) a.alpha.row(r)[j] *= factor;
      total += math::log(static_cast<double>(sum)) + static_cast<double>(most);
      // This barrier is needed because the next row reads values that other threads have written.
      team.barrier();
    }
    if (begin < end && !impossible) total += log_of_ends(a, end - 1, by_logs, team);
    if (team.rank() == 0)
      *a.cost.row(s) = begin == end ? 0.0f
                       : impossible ? -crf_none
                                    : static_cast<float>(total - path);
  }

 private:
  template <class Team>
  static LAMINA_INLINE LAMINA_FN double log_of_ends(const arguments& a, int last, bool by_logs,
                                                    const Team& team) {
    if (by_logs)
      return static_cast<double>(log_sum_over(
          team, a.tags, [&](int j) { return a.logs.row(last)[j] + a.transition.row(1)[j]; }));
    double ends = 0;
    LAMINA_CUDA_KEEP_LOOP
    for (int j = team.rank(); j < a.tags; j += team.size())
      ends += static_cast<double>(a.alpha.row(last)[j] * a.w.row(1)[j]);
    return math::log(sum_of(team, ends));
  }
};

/// Computes the gradient of Emission from the last row of a sequence to the first. behind[j] is the
/// sum over all continuations of a path that has tag j in the current row, up to a constant factor.
/// The tags i in row r - 1 and j in row r have the joint probability alpha[r - 1][i] w[i][j]
/// pairs[r][j]. If the sums are computed as logarithms, alpha, w, pairs and behind hold logarithms,
/// and are added instead of multiplied.
struct crf_grad_lines {
  using arguments = crf_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int begin = a.all.begin(s), end = a.all.end(s), n = a.tags;
    const float d = *a.d.row(s);
    if (d == 0 || crf_path(a, begin, end, team) == static_cast<double>(crf_none)) {
      // If the path of the labels does not exist, the cost is infinite and the gradient is 0.
      for (int r = begin; r < end; ++r) {
        if (team.rank() == 0) *a.grads.row(r) = 0;
        for (int j = team.rank(); j < n; j += team.size()) a.dx.row(r)[j] = 0;
      }
      return;
    }
    if (*a.holds == 0) return by_logarithms(a, begin, end, d, team);
    for (int j = team.rank(); begin < end && j < n; j += team.size())
      a.behind.row(end - 1)[j] = a.w.row(1)[j];
    for (int r = end; r-- > begin;) {
      team.barrier();
      const float *const alpha = a.alpha.row(r), *const behind = a.behind.row(r),
                         *const e = a.e.row(r);
      const int is = a.tag(r);
      float sum = 0;
      for (int j = team.rank(); j < n; j += team.size()) sum += alpha[j] * behind[j];
      sum = sum_of(team, sum);
      for (int j = team.rank(); j < n; j += team.size())
        a.dx.row(r)[j] = d * (alpha[j] * behind[j] / sum - (j == is ? 1.0f : 0.0f));
      if (team.rank() == 0) *a.grads.row(r) = d;
      if (r == begin) break;
      float of_pairs = 0, of_row = 0;
      for (int i = team.rank(); i < n; i += team.size()) {
        const float* const w = a.w.row(2 + i);
        float ways = 0;
        for (int j = 0; j < n; ++j) ways += w[j] * (e[j] * behind[j]);
        a.behind.row(r - 1)[i] = ways;
        of_pairs += a.alpha.row(r - 1)[i] * ways;
        of_row += ways;
      }
      of_pairs = sum_of(team, of_pairs);
      of_row = sum_of(team, of_row);
      for (int j = team.rank(); j < n; j += team.size()) {
        a.pairs.row(r)[j] = e[j] * behind[j] / of_pairs;
        a.behind.row(r - 1)[j] /= of_row;
      }
    }
  }

 private:
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void by_logarithms(const arguments& a, int begin, int end, float d,
                                                    const Team& team) {
    const int n = a.tags;
    LAMINA_CUDA_KEEP_LOOP
    for (int r = begin; r < end; ++r)
      crf_log_step(a, begin, r, crf_largest(team, a.emission.row(r), n), team);
    for (int j = team.rank(); begin < end && j < n; j += team.size())
      a.behind.row(end - 1)[j] = a.transition.row(1)[j];
    LAMINA_CUDA_KEEP_LOOP
    for (int r = end; r-- > begin;) {
      const float *const logs = a.logs.row(r), *const behind = a.behind.row(r);
      const int is = a.tag(r);
      const float sum = log_sum_over(team, n, [&](int j) { return logs[j] + behind[j]; });
      for (int j = team.rank(); j < n; j += team.size())
        a.dx.row(r)[j] = d * (math::exp(logs[j] + behind[j] - sum) - (j == is ? 1.0f : 0.0f));
      if (team.rank() == 0) *a.grads.row(r) = d;
      if (r == begin) break;
      const float most = crf_largest(team, a.emission.row(r), n);
      float *const pairs = a.pairs.row(r), *const next = a.behind.row(r - 1);
      for (int j = team.rank(); j < n; j += team.size())
        pairs[j] = a.emission.row(r)[j] - most + behind[j];
      team.barrier();
      for (int i = team.rank(); i < n; i += team.size())
        next[i] = log_sum_over(n, [&](int j) { return a.transition.row(2 + i)[j] + pairs[j]; });
      const float whole =
          log_sum_over(team, n, [&](int i) { return a.logs.row(r - 1)[i] + next[i]; });
      const float shift = log_sum_over(team, n, [&](int i) { return next[i]; });
      // This barrier waits until all threads have read `pairs`, which the next loop overwrites.
      team.barrier();
      for (int j = team.rank(); j < n; j += team.size()) pairs[j] -= whole, next[j] -= shift;
    }
  }
};

/// Each team computes one element of the gradient of Transition, a sum over all rows. The order of
/// the sum is fixed, so that the result is the same in each run.
struct crf_transition_lines {
  using arguments = crf_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int at, const Team& team) {
    int j = at;
    const int i = a.tags_divider.divide(j) - 2;
    float sum = 0;
    const bool by_logs = *a.holds == 0;
    for (int r = team.rank(); r < a.rows; r += team.size()) {
      const bool is_first = a.before[r] < 0;
      if (i >= 0 && !is_first) {
        // `pairs` has no values for a sequence whose cost has the gradient 0.
        if (*a.grads.row(r) == 0) continue;
        const float probability =
            by_logs
                ? math::exp(a.logs.row(r - 1)[i] + a.transition.row(2 + i)[j] + a.pairs.row(r)[j])
                : a.alpha.row(r - 1)[i] * a.w.row(2 + i)[j] * a.pairs.row(r)[j];
        sum += *a.grads.row(r) * (probability - (a.tag(r - 1) == i && a.tag(r) == j ? 1.0f : 0.0f));
      } else if (i == -2 ? is_first : i == -1 && (r + 1 == a.rows || a.before[r + 1] < 0)) {
        sum += a.dx.row(r)[j];
      }
    }
    sum = sum_of(team, sum);
    if (team.rank() == 0) a.dw.row(2 + i)[j] = sum;
  }
};

/// Finds the path with the highest score. Among paths with equal scores, takes the path with the
/// lower last tag, as on the CPU.
struct crf_path_lines {
  using arguments = crf_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int begin = a.all.begin(s), end = a.all.end(s), n = a.tags;
    for (int r = begin; r < end; ++r) {
      const float* const before = r > begin ? a.scores.row(r - 1) : nullptr;
      for (int j = team.rank(); j < n; j += team.size()) {
        int best = 0;
        float most =
            before == nullptr ? a.transition.row(0)[j] : before[0] + a.transition.row(2)[j];
        for (int i = 1; before != nullptr && i < n; ++i) {
          const float score = before[i] + a.transition.row(2 + i)[j];
          best = score > most ? i : best;
          most = score > most ? score : most;
        }
        a.from[r * n + j] = best;
        a.scores.row(r)[j] = a.emission.row(r)[j] + most;
      }
      team.barrier();
    }
    for (int r = begin + team.rank(); a.label && r < end; r += team.size()) a.check_label(r);
    if (team.rank() != 0 || begin == end) return;
    const float *const last = a.scores.row(end - 1), *const stop = a.transition.row(1);
    int tag = 0;
    for (int j = 1; j < n; ++j)
      if (last[j] + stop[j] > last[tag] + stop[tag]) tag = j;
    for (int r = end; r-- > begin;) {
      a.path[r * a.path_stride] = a.label ? (a.tag(r) == tag ? 1 : 0) : tag;
      tag = a.from[r * n + tag];
    }
  }
};

inline crf_arguments crf_of(const call_context& c) {
  const operand x = c.input(0);
  require_float(c, x);
  require_float(c, c.input(1));
  crf_arguments a{};
  a.all = c.sequences(x.domain);
  a.emission = x;
  a.transition = c.input(1);
  a.label = c.in(2);
  a.tags = x.columns;
  a.tags_divider = divider(x.columns);
  a.rows = x.rows;
  a.fault = c.run.fault;
  a.group = c.number_of_group;
  a.lines = a.all.count;
  a.width = a.tags * a.tags;
  a.count = (a.tags + 2) * a.tags;
  return a;
}

/// Reserves memory for sums that are computed as logarithms, and for the flag `holds`.
inline void take_logs(scratch_rows& memory, int rows, int tags) {
  memory.take(rows, tags);
  memory.take(1, 1);
}
template <class Backend>
void take_logs(Backend& b, crf_arguments& a, scratch_rows& memory) {
  a.logs = memory.take(a.rows, a.tags);
  a.holds = reinterpret_cast<int*>(memory.take(1, 1).data);
  crf_arguments one = a;
  one.lines = 1;
  one.width = a.count;
  b.template lines<team_lines<crf_hold_lines>>(one);
}

}}}  // namespace lamina::engine::cuda::detail
