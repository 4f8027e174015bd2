// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/ctc/cuda.cuh - warpctc: a team of threads computes a sequence row by row,
// and each thread computes some of the states; ctc_align: turns a path into its labels.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/math.hpp>
#include <lamina/engine/cuda/body/part_copy.cuh>
#include <lamina/engine/cuda/body/recurrent_body.cuh>
#include <lamina/engine/cuda/schedule/dynamic_sequences.hpp>
#include <lamina/operators/loss/ctc/common.hpp>
#include <lamina/operators/loss/ctc/definition.hpp>
#include <lamina/operators/sequence/ids/cuda.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

struct ctc_arguments {
  sequence_view rows, labels;
  row_array logits, gradient, loss, grad, to;
  argument_view label;
  // For each row, the largest logit, and the logarithm of the sum of e^(logit - largest). They are
  // stored separately, because their sum would lose digits of the logarithm if all logits share a
  // large offset.
  float* totals;
  float* memory;  // memory for rows of states
  int rows_of_state;
  int classes, blank;
  bool by_times;
  fault_word* fault;
  int group;
  int lines, width, count;
};

/// The paths of one sequence. A path is in one state per row. The states are the labels in their
/// order, with a blank before, between and after them. From row to row, a path may stay in its
/// state or go on to the next state, and it may skip a blank between two different labels. Loops
/// are not unrolled, because the code handles labels of any integer type, and unrolled it would
/// need more registers than a thread has.
struct ctc_paths {
  const ctc_arguments& a;
  int begin, length, first_label, states, block;
  float* memory;

  LAMINA_INLINE LAMINA_FN ctc_paths(const ctc_arguments& given, int s)
      : a(given),
        begin(a.rows.begin(s)),
        length(a.rows.end(s) - begin),
        first_label(a.labels.begin(s)),
        states(2 * (a.labels.end(s) - first_label) + 1),
        block(ctc_block(length)),
        memory(a.memory + (2 * static_cast<std::ptrdiff_t>(first_label) + s) * a.rows_of_state) {}

  /// Row i of the scratch memory. Its rows are, in this order: the first rows of all blocks, the
  /// other rows of one block, the sums over path suffixes, and the prefix sums of rows that are not
  /// kept.
  LAMINA_INLINE LAMINA_FN float* row(int i) const {
    return memory + static_cast<std::ptrdiff_t>(i) * states;
  }
  LAMINA_INLINE LAMINA_FN float* kept(int t) const { return row(t / block); }
  LAMINA_INLINE LAMINA_FN float* in_block(int t) const {
    return t % block == 0 ? kept(t) : row(block + t % block);
  }
  LAMINA_INLINE LAMINA_FN float* behind(int t) const { return row(2 * block + t % 2); }
  LAMINA_INLINE LAMINA_FN float* passing(int t) const { return row(2 * block + 2 + t % 2); }
  static constexpr int rows_needed(int rows) { return 2 * ctc_block(rows) + 4; }

  LAMINA_INLINE LAMINA_FN int label(int i) const {
    const std::int64_t l = a.label.integer((first_label + i) * a.label.columns);
    return l >= 0 && l < a.classes ? static_cast<int>(l) : a.blank;
  }
  LAMINA_INLINE LAMINA_FN int state_class(int s) const {
    return s % 2 == 0 ? a.blank : label(s / 2);
  }
  /// Whether a path may come to state s from state s - 2.
  LAMINA_INLINE LAMINA_FN bool skips(int s) const {
    return s % 2 != 0 && s > 2 && s < states && label(s / 2) != label(s / 2 - 1);
  }
  LAMINA_INLINE LAMINA_FN float log_probability(int t, int k) const {
    const int r = begin + t;
    return log_of(a.logits.row(r)[k], a.totals[2 * r], a.totals[2 * r + 1]);
  }
  /// Returns the logarithm of the probability of a class. The result is at least ctc_none, because
  /// minus infinity minus itself would be NaN.
  static LAMINA_INLINE LAMINA_FN float log_of(float x, float most, float log_sum) {
    const float p = x - most - log_sum;
    return p < ctc_none ? ctc_none : p;
  }

  /// Reports labels that no path can have: a label is out of range or equal to the blank, or the
  /// sequence has too few rows for its labels.
  template <class Team>
  LAMINA_INLINE LAMINA_FN void check_labels(const Team& team) const {
    if (team.rank() != 0) return;
    int needed = 0;
    LAMINA_CUDA_KEEP_LOOP
    for (int i = 0; i < states / 2; ++i) {
      const int at = (first_label + i) * a.label.columns;
      const std::int64_t l = a.label.integer(at);
      needed += i > 0 && l == a.label.integer(at - a.label.columns) ? 2 : 1;
      if (l < 0 || l >= a.classes || l == a.blank || needed > length)
        report_fault(a.fault, a.group, at);
    }
  }

  /// Computes, for each state, the sum over the path prefixes that end in this state in row t. The
  /// sum includes the probability of the state in row t.
  template <class Team>
  LAMINA_INLINE LAMINA_FN void step_forward(int t, const float* before, float* now,
                                            const Team& team) const {
    const float* const x = a.logits.row(begin + t);
    const float most = a.totals[2 * (begin + t)], log_sum = a.totals[2 * (begin + t) + 1];
    LAMINA_CUDA_KEEP_LOOP
    for (int s = team.rank(); s < states; s += team.size()) {
      float ways = s < 2 ? 0.0f : ctc_none;
      if (t > 0)
        ways = engine::log_sum(before[s], s > 0 ? before[s - 1] : ctc_none,
                               skips(s) ? before[s - 2] : ctc_none);
      now[s] = ways + log_of(x[state_class(s)], most, log_sum);
    }
    team.barrier();
  }
  /// Computes, for each state, the sum over the path suffixes that begin in this state in row t.
  /// The sum excludes the probability of the state in row t.
  template <class Team>
  LAMINA_INLINE LAMINA_FN void step_backward(int t, const Team& team) const {
    float* const now = behind(t);
    const float* const next = behind(t + 1);
    const auto follows = [&](int s) { return next[s] + log_probability(t + 1, state_class(s)); };
    LAMINA_CUDA_KEEP_LOOP
    for (int s = team.rank(); s < states; s += team.size())
      if (t + 1 == length)
        now[s] = s + 2 >= states ? 0.0f : ctc_none;
      else
        now[s] = log_sum(follows(s), s + 1 < states ? follows(s + 1) : ctc_none,
                         skips(s + 2) ? follows(s + 2) : ctc_none);
    team.barrier();
  }

  /// Returns the logarithm of the probability of the labels, which is the sum of the probabilities
  /// of all paths. With `keeps`, stores the rows that the gradient reads.
  template <class Team>
  LAMINA_INLINE LAMINA_FN float forward(bool keeps, const Team& team) const {
    const float* before = nullptr;
    LAMINA_CUDA_KEEP_LOOP
    for (int t = 0; t < length; ++t) {
      float* const now = keeps && t % block == 0 ? kept(t) : passing(t);
      step_forward(t, before, now, team);
      before = now;
    }
    return log_sum(before[states - 1], states > 1 ? before[states - 2] : ctc_none, ctc_none);
  }
  template <class Team>
  LAMINA_INLINE LAMINA_FN void backward(float total, const Team& team) const {
    LAMINA_CUDA_KEEP_LOOP
    for (int t = length; t-- > 0;) {
      if (t + 1 == length || (t + 1) % block == 0) {
        LAMINA_CUDA_KEEP_LOOP
        for (int u = t / block * block + 1; u <= t; ++u)
          step_forward(u, in_block(u - 1), in_block(u), team);
      }
      step_backward(t, team);
      give(t, total, team);
    }
  }

 private:
  LAMINA_INLINE LAMINA_FN float posterior(int t, int s, float total) const {
    return math::exp(in_block(t)[s] + behind(t)[s] - total);
  }
  /// Writes d cost / d logits of row t: for each class, its probability minus the fraction of P
  /// that comes from paths that are in this class in row t.
  template <class Team>
  LAMINA_INLINE LAMINA_FN void give(int t, float total, const Team& team) const {
    float* const to = a.gradient.row(begin + t);
    float of_blank = 0;
    LAMINA_CUDA_KEEP_LOOP
    for (int s = 2 * team.rank(); s < states; s += 2 * team.size())
      of_blank += posterior(t, s, total);
    of_blank = sum_of(team, of_blank);
    LAMINA_CUDA_KEEP_LOOP
    for (int k = team.rank(); k < a.classes; k += team.size())
      to[k] = math::exp(log_probability(t, k)) - (k == a.blank ? of_blank : 0.0f);
    team.barrier();
    // If several labels are equal, the thread of the first one adds up the probabilities of all of
    // them.
    LAMINA_CUDA_KEEP_LOOP
    for (int i = team.rank(); i < states / 2; i += team.size()) {
      const int k = label(i);
      bool is_first = k != a.blank;
      LAMINA_CUDA_KEEP_LOOP
      for (int other = 0; is_first && other < i; ++other) is_first = label(other) != k;
      if (!is_first) continue;
      float sum = 0;
      LAMINA_CUDA_KEEP_LOOP
      for (int other = i; other < states / 2; ++other)
        if (label(other) == k) sum += posterior(t, 2 * other + 1, total);
      to[k] -= sum;
    }
    // This barrier is needed because the next step may overwrite the values that are read here.
    team.barrier();
  }
};

struct ctc_total_lines {
  using arguments = ctc_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int r, const Team& team) {
    const float* const x = a.logits.row(r);
    float most = x[0], sum = 0;
    for (int k = team.rank(); k < a.classes; k += team.size()) most = x[k] > most ? x[k] : most;
    most = largest_of(team, most);
    for (int k = team.rank(); k < a.classes; k += team.size()) sum += math::exp(x[k] - most);
    sum = sum_of(team, sum);
    if (team.rank() != 0) return;
    // If all logits of a row are minus infinity, no path exists.
    const bool nothing = most == -__builtin_huge_valf();
    a.totals[2 * r] = nothing ? 0.0f : most;
    a.totals[2 * r + 1] = nothing ? 0.0f : math::log(sum);
  }
};

struct ctc_lines {
  using arguments = ctc_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const ctc_paths paths(a, s);
    paths.check_labels(team);
    float total = 0;
    if (paths.length > 0) total = paths.forward(bool(a.gradient), team);
    // Every path has probability 0.
    const bool impossible = total < ctc_none / 2;
    if (a.loss && team.rank() == 0)
      *a.loss.row(s) = paths.length == 0 ? 0.0f : impossible ? __builtin_huge_valf() : -total;
    // If every path has probability 0, the gradient is 0, and `gradient` already holds zeros.
    if (a.gradient && paths.length > 0 && !impossible) paths.backward(total, team);
  }
};

struct ctc_grad_lines {
  using arguments = ctc_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int begin = a.rows.begin(s), end = a.rows.end(s);
    const float factor = *a.grad.row(s) / (a.by_times ? static_cast<float>(end - begin) : 1.0f);
    for (int r = begin; r < end; ++r)
      for (int k = team.rank(); k < a.classes; k += team.size())
        a.to.row(r)[k] = a.gradient.row(r)[k] * factor;
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::warpctc> {
  static constexpr checked_input checked{1, "label", chosen::element,
                                         "another than the blank, and enough rows of scores"};
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand logits = c.input(0), label = c.input(1);
    require_float(c, logits);
    detail::ctc_arguments a{};
    a.rows = c.sequences(logits.domain);
    a.labels = c.sequences(label.domain);
    a.blank = c.integer(0);
    a.classes = logits.columns;
    if (a.labels.count != a.rows.count)
      fail(c, {"expected ", a.rows.count, " sequences of labels, found ", a.labels.count});
    if (a.blank < 0 || a.blank >= a.classes)
      fail(c, {"expected a blank from 0 to ", a.classes - 1, ", found ", a.blank});
    a.logits = logits;
    a.label = view_of_operand(label);
    a.gradient = c.output(0);
    a.loss = c.output(1);
    detail::scratch_rows memory(c.run.scratch);
    a.totals = memory.take(1, 2 * logits.rows).data;
    a.rows_of_state = detail::ctc_paths::rows_needed(logits.rows);
    a.memory = memory.take(a.rows_of_state, 2 * label.rows + a.rows.count).data;
    a.fault = c.run.fault;
    a.group = c.number_of_group;
    if (const operand gradient = c.output(0)) fill(b, gradient, 0);
    run_lines<detail::ctc_total_lines>(b, a, logits.rows, a.classes, false);
    a.lines = a.rows.count;
    a.width = a.lines > 0 ? 16 * label.rows / a.lines + a.classes : 0;
    if (a.lines > 0) b.template lines<team_lines<detail::ctc_lines>>(a);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    const int rows = c.input(0).rows;
    detail::scratch_rows memory(nullptr);
    memory.take(1, 2 * rows);
    memory.take(detail::ctc_paths::rows_needed(rows),
                2 * c.input(1).rows + c.sequences(c.input(0).domain).count);
    return memory.used();
  }
};

template <>
struct call_kernel<gradient_of<operators::warpctc>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand dx = c.output(0);
    if (!dx) return;
    detail::ctc_arguments a{};
    a.rows = c.sequences(dx.domain);
    a.gradient = c.input(1);
    a.grad = c.input(2);
    a.to = dx;
    a.classes = dx.columns;
    a.by_times = c.flag(1);
    a.lines = a.rows.count;
    a.width = a.classes;
    if (a.lines > 0) b.template lines<team_lines<detail::ctc_grad_lines>>(a);
  }
};

template <>
struct call_kernel<operators::ctc_align> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const int blank = c.integer(0);
    const bool merges = c.flag(1);
    detail::keep_rows(b, c, [=](const auto& id, int row, int first) {
      return id(row) != blank && !(merges && row > first && id(row) == id(row - 1));
    });
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return row_order::scratch(c);
  }
};

}}}  // namespace lamina::engine::cuda
