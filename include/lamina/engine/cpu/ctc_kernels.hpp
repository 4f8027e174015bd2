// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/ctc_kernels.hpp - warpctc: the costs of labels without positions.
//
// Sums over paths are logarithms, a vector of states at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <lamina/core/math.hpp>
#include <lamina/core/padding.hpp>
#include <lamina/engine/call/ctc_path.hpp>
#include <lamina/engine/cpu/label.hpp>
#include <lamina/engine/cpu/row_math.hpp>
#include <lamina/operators/ctc.hpp>

namespace lamina::engine::cpu {

namespace detail {

/// The paths of one sequence: labels with a blank before, between and behind them, each state
/// followed by itself, the next one, or, over a blank between two different labels, the one after.
/// Rows of states have two places without probability before them and behind them.
class ctc_paths {
 public:
  static constexpr int margin = alignment_floats;

  ctc_paths(const call_context& c, float* room)
      : c_(c), logits_(c.input(0)), label_(c.input(1)), blank_(c.integer(0)), room_(room) {}

  /// Floats of memory for sequences of at most so many rows and labels.
  static std::ptrdiff_t floats(int rows, int labels) {
    const std::ptrdiff_t states = 2 * static_cast<std::ptrdiff_t>(labels) + 1;
    const std::ptrdiff_t width = 2 * margin + states + margin;
    const int k = ctc_block(rows);
    return rows + states + width * (6 + 2 * static_cast<std::ptrdiff_t>(k) + 1);
  }

  /// Reads sequence s; throws where its label has no path.
  void take(const sequence_rows& rows, const sequence_rows& labels, int s) {
    begin_ = rows.begin(s);
    rows_count_ = rows.length(s);
    states_ = 2 * labels.length(s) + 1;
    width_ = 2 * margin + (states_ + margin - 1) / margin * margin;
    block_ = ctc_block(rows_count_);
    float* at = room_;
    class_ = reinterpret_cast<std::int32_t*>(at), at += states_;
    total_ = at, at += rows_count_;
    at += (margin - (at - room_) % margin) % margin;
    const auto next_row = [&at, this] {
      float* const row = at + margin;
      std::fill_n(at, width_, ctc_none);
      at += width_;
      return row;
    };
    skip_ = next_row();
    p_ = next_row();
    for (float*& row : before_) row = next_row();
    for (float*& row : behind_) row = next_row();
    kept_ = at + margin;
    const int kept = (rows_count_ + block_ - 1) / block_ + block_;
    std::fill_n(at, static_cast<std::ptrdiff_t>(kept) * width_, ctc_none);
    take_states(labels, s);
    take_totals();
  }

  int rows() const { return rows_count_; }
  /// log of the probability of class k in a row.
  float log_probability(int t, int k) const {
    return logits_.row<const float>(begin_ + t)[k] - total_[t];
  }

  /// The sums over the beginnings of all rows; the log of the sum of all paths.
  float forward(bool keeps) {
    const float* before = first_row(before_[0]);
    for (int t = 0; t < rows_count_; ++t) {
      float* const now = keeps && t % block_ == 0 ? kept(t / block_) : before_[(t + 1) % 2];
      step_forward(t, before, now);
      before = now;
    }
    const float a = before[states_ - 1], b = states_ > 1 ? before[states_ - 2] : ctc_none;
    return log_sum(a, b, ctc_none);
  }

  /// Writes d cost / d logits of all rows, for the total that forward() returned.
  void gradient(float total, const operand& to) {
    const int blocks = (rows_count_ + block_ - 1) / block_;
    float *behind = behind_[0], *next = behind_[1];
    for (int b = blocks; b-- > 0;) {
      const int first = b * block_, end = std::min(first + block_, rows_count_);
      for (int t = first + 1; t < end; ++t)
        step_forward(t, t == first + 1 ? kept(b) : kept(blocks + t - 1 - first),
                     kept(blocks + t - first));
      for (int t = end; t-- > first; std::swap(behind, next)) {
        step_backward(t, behind, next);
        give(t, t == first ? kept(b) : kept(blocks + t - first), next, total,
             to.row<float>(begin_ + t));
      }
    }
  }

 private:
  void take_states(const sequence_rows& labels, int s) {
    const int classes = logits_.columns;
    int needed = 0;
    class_[0] = blank_;
    // From in front of the first state to the first label.
    if (states_ > 1) skip_[1] = 0;
    for (int i = 0; i < labels.length(s); ++i) {
      const int row = labels.begin(s) + i;
      const std::int64_t label = integer_in(label_, row, 0);
      if (label < 0 || label >= classes) fail_range(c_, "label", label, row, classes);
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
      const float* const x = logits_.row<const float>(begin_ + t);
      const float most = *std::max_element(x, x + n);
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += std::exp(x[k] - most);
      total_[t] = most + std::log(sum);
    }
  }
  float* kept(int row) const { return kept_ + static_cast<std::ptrdiff_t>(row) * width_; }
  // Before the first row a path is in front of its first state.
  float* first_row(float* row) {
    row[-1] = 0;
    return row;
  }
  void take_probabilities(int t) {
    for (int s = 0; s < states_; ++s) p_[s] = log_probability(t, class_[s]);
  }

  // The sums over the beginnings up to row t, that row's own factor included.
  void step_forward(int t, const float* before, float* now) {
    take_probabilities(t);
    for_each_place(states_, [&](std::ptrdiff_t s, auto like) {
      store(now + s, decltype(like)(log_sum(load(before + s, like), load(before + s - 1, like),
                                            load(before + s - 2, like) + load(skip_ + s, like)) +
                                    load(p_ + s, like)));
    });
    // Behind the first row no path is in front of its first state.
    if (t == 0) before_[0][-1] = ctc_none;
  }
  // The sums over the ends behind row t, that row's own factor excluded.
  void step_backward(int t, const float* behind, float* now) {
    if (t + 1 == rows_count_) {
      std::fill_n(now, states_, ctc_none);
      for (int s = std::max(0, states_ - 2); s < states_; ++s) now[s] = 0;
      return;
    }
    take_probabilities(t + 1);
    // p becomes what follows each state, its own factor included.
    for_each_place(states_, [&](std::ptrdiff_t s, auto like) {
      store(p_ + s, decltype(like)(load(p_ + s, like) + load(behind + s, like)));
    });
    for_each_place(states_, [&](std::ptrdiff_t s, auto like) {
      store(now + s, decltype(like)(log_sum(load(p_ + s, like), load(p_ + s + 1, like),
                                            load(p_ + s + 2, like) + load(skip_ + s + 2, like))));
    });
  }
  void give(int t, const float* before, const float* behind, float total, float* to) const {
    for (int k = 0; k < logits_.columns; ++k) to[k] = std::exp(log_probability(t, k));
    for (int s = 0; s < states_; ++s) to[class_[s]] -= std::exp(before[s] + behind[s] - total);
  }

  const call_context& c_;
  operand logits_, label_;
  int blank_;
  float* room_;
  int begin_ = 0, rows_count_ = 0, states_ = 1, block_ = 1;
  std::ptrdiff_t width_ = 0;
  std::int32_t* class_ = nullptr;  // of each state
  float* total_ = nullptr;         // of each row, log of the sum of e^logit
  float* skip_ = nullptr;          // 0 where a state follows the one before the last, else none
  float* p_ = nullptr;             // of each state in one row
  float* before_[2] = {};
  float* behind_[2] = {};
  float* kept_ = nullptr;  // the first row of each block, then the rows of one block
};

}  // namespace detail

template <>
struct call_kernel<warpctc> {
  template <class = void>
  static void run(const call_context& c) {
    const operand logits = c.input(0), gradient = c.output(0), loss = c.output(1);
    require_float(c, logits);
    const sequence_rows rows = c.sequences(logits), labels = c.sequences(c.input(1));
    if (labels.count != rows.count)
      fail(c, {"expected ", rows.count, " sequences of labels, found ", labels.count});
    if (c.integer(0) < 0 || c.integer(0) >= logits.columns)
      fail(c, {"expected a blank from 0 to ", logits.columns - 1, ", found ", c.integer(0)});
    detail::ctc_paths paths(c, c.scratch());
    for (int s = 0; s < rows.count; ++s) {
      paths.take(rows, labels, s);
      const bool is_empty = paths.rows() == 0;
      const float total = is_empty ? 0 : paths.forward(static_cast<bool>(gradient));
      if (loss) *loss.row<float>(s) = is_empty ? 0 : -total;
      if (gradient && !is_empty) paths.gradient(total, gradient);
    }
  }
  template <class = void>
  static std::ptrdiff_t scratch(const call_context& c) {
    return detail::ctc_paths::floats(c.input(0).rows, c.input(1).rows);
  }
};

template <>
struct call_kernel<gradient_of<warpctc>> {
  template <class = void>
  static void run(const call_context& c) {
    const operand of_one = c.input(1), d = c.input(2), dx = c.output(0);
    if (!dx) return;
    const sequence_rows rows = c.sequences(dx);
    for (int s = 0; s < rows.count; ++s) {
      const float times = c.flag(1) ? static_cast<float>(rows.length(s)) : 1.0f;
      const float factor = *d.row<const float>(s) / times;
      for (int r = rows.begin(s); r < rows.end(s); ++r)
        for (int k = 0; k < dx.columns; ++k)
          dx.row<float>(r)[k] = of_one.row<const float>(r)[k] * factor;
    }
  }
};

}  // namespace lamina::engine::cpu
