// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/ctc/cpu.hpp - warpctc: the cost of a label sequence whose positions in the
// input are unknown; ctc_align: turns a path into its labels.
//
// Sums over paths are computed as logarithms; a SIMD vector holds several states.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/loss/ctc/definition.hpp>
#if LAMINA_DEFINES
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <lamina/core/arrays/padding.hpp>
#include <lamina/core/numbers/math.hpp>
#include <lamina/engine/common/real_numbers.hpp>
#include <lamina/engine/cpu/memory/label.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/operators/loss/ctc/common.hpp>
#include <lamina/operators/sequence/ids/cpu.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

#if LAMINA_DEFINES

namespace detail {

/// The paths of one sequence. A path is in one state per row. The states are the labels in their
/// order, with a blank before, between and after them. From row to row, a path may stay in its
/// state or go on to the next state, and it may skip a blank between two different labels. Each row
/// of states has two elements of probability 0 before its first and after its last state.
template <class Real>
class ctc_paths {
 public:
  static constexpr int margin = alignment_floats;
  static constexpr Real none = ctc_none;

  ctc_paths(const call_context& c, Real* memory)
      : c_(c), logits_(c.input(0)), label_(c.input(1)), blank_(c.integer(0)), memory_(memory) {}

  /// Returns how many elements of scratch memory are needed for sequences of at most `rows` rows
  /// and `labels` labels.
  static std::ptrdiff_t floats(int rows, int labels) {
    const std::ptrdiff_t states = 2 * static_cast<std::ptrdiff_t>(labels) + 1;
    const std::ptrdiff_t width = 2 * margin + states + margin;
    const int k = ctc_block(rows);
    return 2 * static_cast<std::ptrdiff_t>(rows) + states +
           width * (6 + 2 * static_cast<std::ptrdiff_t>(k) + 1);
  }

  /// Prepares the paths of sequence s. Fails if the sequence has too few rows for its labels, or a
  /// label is not valid.
  void take(const sequence_rows& rows, const sequence_rows& labels, int s) {
    begin_ = rows.begin(s);
    rows_count_ = rows.length(s);
    states_ = 2 * labels.length(s) + 1;
    width_ = 2 * margin + (states_ + margin - 1) / margin * margin;
    block_ = ctc_block(rows_count_);
    Real* at = memory_;
    class_ = reinterpret_cast<std::int32_t*>(at), at += states_;
    most_ = at, at += rows_count_;
    log_sum_ = at, at += rows_count_;
    at += (margin - (at - memory_) % margin) % margin;
    const auto next_row = [&at, this] {
      Real* const row = at + margin;
      std::fill_n(at, width_, none);
      at += width_;
      return row;
    };
    skip_ = next_row();
    p_ = next_row();
    for (Real*& row : before_) row = next_row();
    for (Real*& row : behind_) row = next_row();
    kept_ = at + margin;
    const int kept = (rows_count_ + block_ - 1) / block_ + block_;
    std::fill_n(at, static_cast<std::ptrdiff_t>(kept) * width_, none);
    take_states(labels, s);
    take_totals();
  }

  int rows() const { return rows_count_; }

  /// Whether `total`, the result of forward(), means that every path has probability 0.
  static bool is_impossible(Real total) { return total < none / 2; }

  /// Computes the sums over path prefixes row by row. Returns the logarithm of the sum of the
  /// probabilities of all paths. With `keeps`, stores the rows that gradient() reads.
  Real forward(bool keeps) {
    const Real* before = first_row(before_[0]);
    for (int t = 0; t < rows_count_; ++t) {
      Real* const now = keeps && t % block_ == 0 ? kept(t / block_) : before_[(t + 1) % 2];
      step_forward(t, before, now);
      before = now;
    }
    const Real a = before[states_ - 1], b = states_ > 1 ? before[states_ - 2] : none;
    return log_sum(a, b, none);
  }

  /// Writes d cost / d logits of all rows; `total` is the result of forward().
  void gradient(Real total, const operand& to) {
    const int blocks = (rows_count_ + block_ - 1) / block_;
    Real *behind = behind_[0], *next = behind_[1];
    for (int b = blocks; b-- > 0;) {
      const int first = b * block_, end = (std::min)(first + block_, rows_count_);
      for (int t = first + 1; t < end; ++t)
        step_forward(t, t == first + 1 ? kept(b) : kept(blocks + t - 1 - first),
                     kept(blocks + t - first));
      for (int t = end; t-- > first; std::swap(behind, next)) {
        step_backward(t, behind, next);
        give(t, t == first ? kept(b) : kept(blocks + t - first), next, total,
             to.row<Real>(begin_ + t));
      }
    }
  }

 private:
  void take_states(const sequence_rows& labels, int s) {
    const int classes = logits_.columns;
    int needed = 0;
    class_[0] = blank_;
    // A path starts at a position before the first state, and can skip the first blank.
    if (states_ > 1) skip_[1] = 0;
    for (int i = 0; i < labels.length(s); ++i) {
      const int row = labels.begin(s) + i;
      const std::int64_t label = integer_in(label_, row, 0);
      if (label < 0 || label >= classes) fail_range(c_, "label", label, row, classes, label_);
      if (label == blank_)
        fail(c_, {"expected labels other than the blank ", blank_, ", found it in sequence ", s});
      const bool repeated = i > 0 && label == class_[2 * i - 1];
      needed += repeated ? 2 : 1;
      class_[2 * i + 1] = static_cast<std::int32_t>(label);
      class_[2 * i + 2] = blank_;
      if (i > 0 && !repeated) skip_[2 * i + 1] = 0;
    }
    if (rows_count_ < needed)
      fail(c_, {"expected at least ", needed, " rows of scores in sequence ", s,
                " for its labels, found ", rows_count_});
  }
  void take_totals() {
    const int n = logits_.columns;
    for (int t = 0; t < rows_count_; ++t) {
      const Real* const x = logits_.row<const Real>(begin_ + t);
      const Real most = *std::max_element(x, x + n);
      Real sum = 0;
      for (int k = 0; k < n; ++k) sum += std::exp(x[k] - most);
      // most_ and log_sum_ are stored separately, because their sum would lose digits of the
      // logarithm if all logits share a large offset. If all logits of a row are minus infinity, no
      // path exists.
      const bool nothing = most == -std::numeric_limits<Real>::infinity();
      most_[t] = nothing ? Real(0) : most;
      log_sum_[t] = nothing ? Real(0) : std::log(sum);
    }
  }
  Real* kept(int row) const { return kept_ + static_cast<std::ptrdiff_t>(row) * width_; }
  // Returns `row` as the sums before the first row: each path is at the position before the first
  // state.
  Real* first_row(Real* row) {
    row[-1] = 0;
    return row;
  }
  void take_probabilities(int t) {
    const Real* const x = logits_.row<const Real>(begin_ + t);
    const Real most = most_[t], log_sum = log_sum_[t];
    for (int s = 0; s < states_; ++s) {
      const Real p = x[class_[s]] - most - log_sum;
      p_[s] = p < none ? none : p;  // minus infinity minus itself would be NaN
    }
  }

  // Computes, for each state, the sum over the path prefixes that end in this state in row t. The
  // sum includes the probability of the state in row t.
  void step_forward(int t, const Real* before, Real* now) {
    take_probabilities(t);
    for_each_position<Real>(states_, [&](std::ptrdiff_t s, auto like) {
      store(now + s, decltype(like)(log_sum(load(before + s, like), load(before + s - 1, like),
                                            load(before + s - 2, like) + load(skip_ + s, like)) +
                                    load(p_ + s, like)));
    });
    // After the first row, no path is before its first state.
    if (t == 0) before_[0][-1] = none;
  }
  // Computes, for each state, the sum over the path suffixes that begin in this state in row t. The
  // sum excludes the probability of the state in row t.
  void step_backward(int t, const Real* behind, Real* now) {
    if (t + 1 == rows_count_) {
      std::fill_n(now, states_, none);
      for (int s = (std::max)(0, states_ - 2); s < states_; ++s) now[s] = 0;
      return;
    }
    take_probabilities(t + 1);
    // p_[s] becomes the sum over the suffixes that begin in state s in row t + 1, including the
    // probability of s.
    for_each_position<Real>(states_, [&](std::ptrdiff_t s, auto like) {
      store(p_ + s, decltype(like)(load(p_ + s, like) + load(behind + s, like)));
    });
    for_each_position<Real>(states_, [&](std::ptrdiff_t s, auto like) {
      store(now + s, decltype(like)(log_sum(load(p_ + s, like), load(p_ + s + 1, like),
                                            load(p_ + s + 2, like) + load(skip_ + s + 2, like))));
    });
  }
  void give(int t, const Real* before, const Real* behind, Real total, Real* to) const {
    const Real* const x = logits_.row<const Real>(begin_ + t);
    const Real most = most_[t], log_sum = log_sum_[t];
    for (int k = 0; k < logits_.columns; ++k) to[k] = std::exp(x[k] - most - log_sum);
    for (int s = 0; s < states_; ++s) to[class_[s]] -= std::exp(before[s] + behind[s] - total);
  }

  const call_context& c_;
  operand logits_, label_;
  int blank_;
  Real* memory_;
  int begin_ = 0, rows_count_ = 0, states_ = 1, block_ = 1;
  std::ptrdiff_t width_ = 0;
  std::int32_t* class_ = nullptr;  // per state: its class
  Real* most_ = nullptr;           // per row: the largest logit
  Real* log_sum_ = nullptr;        // per row: log of the sum of e^(logit - most)
  Real* skip_ = nullptr;           // per state s: 0 if a path may come from state s - 2, else none
  Real* p_ = nullptr;              // per state of one row: log probability
  Real* before_[2] = {};
  Real* behind_[2] = {};
  Real* kept_ = nullptr;  // the first row of each block, then the rows of one block
};

}  // namespace detail

#endif  // LAMINA_DEFINES

template <>
struct call_kernel<operators::warpctc> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::warpctc>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::warpctc>::run(const call_context& c) {
  const operand logits = c.input(0), gradient = c.output(0), loss = c.output(1);
  require_real<Real>(c, logits);
  const sequence_rows rows = c.sequences(logits), labels = c.sequences(c.input(1));
  if (labels.count != rows.count)
    fail(c, {"expected ", rows.count, " sequences of labels, found ", labels.count});
  if (c.integer(0) < 0 || c.integer(0) >= logits.columns)
    fail(c, {"expected a blank from 0 to ", logits.columns - 1, ", found ", c.integer(0)});
  detail::ctc_paths<Real> paths(c, numbers_at<Real>(c.scratch()));
  for (int s = 0; s < rows.count; ++s) {
    paths.take(rows, labels, s);
    const bool is_empty = paths.rows() == 0;
    const Real total = is_empty ? 0 : paths.forward(static_cast<bool>(gradient));
    const bool impossible = !is_empty && paths.is_impossible(total);
    if (loss)
      *loss.row<Real>(s) = is_empty     ? Real(0)
                           : impossible ? std::numeric_limits<Real>::infinity()
                                        : -total;
    if (!gradient || is_empty) continue;
    if (impossible)
      for (int r = rows.begin(s); r < rows.end(s); ++r)
        std::fill_n(gradient.row<Real>(r), gradient.columns, Real(0));
    else
      paths.gradient(total, gradient);
  }
}
LAMINA_INSTANCE(void call_kernel<operators::warpctc>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::warpctc>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<operators::warpctc>::scratch(const call_context& c) {
  return in_floats<Real>(detail::ctc_paths<Real>::floats(c.input(0).rows, c.input(1).rows));
}
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<operators::warpctc>::scratch<float>(const call_context&))
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<operators::warpctc>::scratch<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::warpctc>>::run(const call_context& c) {
  const operand of_one = c.input(1), d = c.input(2), dx = c.output(0);
  if (!dx) return;
  const sequence_rows rows = c.sequences(dx);
  for (int s = 0; s < rows.count; ++s) {
    const Real times = c.flag(1) ? static_cast<Real>(rows.length(s)) : Real(1);
    const Real factor = *d.row<const Real>(s) / times;
    for (int r = rows.begin(s); r < rows.end(s); ++r)
      for (int k = 0; k < dx.columns; ++k)
        dx.row<Real>(r)[k] = of_one.row<const Real>(r)[k] * factor;
  }
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::warpctc>>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::warpctc>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

template <>
struct call_kernel<operators::ctc_align> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::ctc_align>::run(const call_context& c) {
  const int blank = c.integer(0);
  const bool merges = c.flag(1);
  detail::keep_rows(c, [=](const operand& x, int r, int first) {
    const std::int64_t id = integer_in(x, r, 0);
    return id != blank && !(merges && r > first && id == integer_in(x, r - 1, 0));
  });
}
LAMINA_INSTANCE(void call_kernel<operators::ctc_align>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::ctc_align>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
