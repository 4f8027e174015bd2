// SPDX-License-Identifier: Apache-2.0
// lamina/operators/decode/beam_search/common_steps.hpp - builds whole hypotheses from the steps of
// a beam search, which must be in host memory, for all engines.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>

#include <lamina/engine/common/dynamic_rows.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// The steps of a beam search, stored in the slots of two arrays of tensors: ids and scores. Array
/// provides the sequence offsets of a slot; Values provides id(step, row) and score(step, row).
template <class Array, class Values>
class beam_steps {
 public:
  beam_steps(const operator_call& c, const Array& ids, const Array& scores, const Values& values)
      : ids_(ids), values_(values), steps_(ids.size()), end_(c.integer(1)) {
    if (steps_ == 0 || scores.size() != steps_)
      fail(c, {"expected as many steps of scores as of ids, and one at least, found ",
               scores.size(), " and ", steps_});
    for (int t = 0; t < steps_; ++t) {
      if (!ids.holds(t) || !scores.holds(t) || !has_two_levels(t) || ids.rows(t) != scores.rows(t))
        fail(c, {"expected ids and scores of two levels of sequences in step ", t});
      if (t > 0 && (items(t).count != ids.rows(t - 1) || sources(t).count != sources(0).count))
        fail(c, {"expected a sequence for each of the ", ids.rows(t - 1), " hypotheses of ",
                 sources(0).count, " sources in step ", t, ", found ", items(t).count, " of ",
                 sources(t).count});
    }
  }

  int sources() const { return sources(0).count; }
  /// Returns the last step in which a source has hypotheses; -1 if it never has any.
  int last_step(int source) const {
    int t = steps_ - 1;
    while (t >= 0 && rows(t, source).begin == rows(t, source).end) --t;
    return t;
  }
  struct row_range {
    int begin, end;
  };
  /// Returns the rows of step t that are hypotheses of a source.
  row_range rows(int t, int source) const {
    const sequence_rows of = sources(t), all = items(t);
    return {all.offsets[of.begin(source)], all.offsets[of.end(source)]};
  }
  auto score(int t, int row) const { return values_.score(t, row); }
  /// Calls f(id, score) for each token of a hypothesis, from its last step backwards. A hypothesis
  /// that has ended has end ids in all later steps; only the first end id is passed to f. Returns
  /// the number of calls.
  template <class F>
  int walk(int t, int row, F&& f) const {
    f(values_.id(t, row), values_.score(t, row));
    int n = 1;
    while (t-- > 0) {
      row = parent(t + 1, row);
      const std::int64_t one = values_.id(t, row);
      if (one != end_) f(one, values_.score(t, row)), ++n;
    }
    return n;
  }

 private:
  // A slot stores two levels of offsets. The number of sequences precedes the offsets of each level
  // (array/common_slot_sequences.hpp).
  sequence_rows sources(int t) const {
    const int* const at = ids_.offsets(t);
    return {at + 1, at[0]};
  }
  sequence_rows items(int t) const {
    const int* const at = ids_.offsets(t) + sources(t).count + 2;
    return {at + 1, at[0]};
  }
  bool has_two_levels(int t) const {
    const int numbers = ids_.sequences(t) == 0 ? 0 : ids_.sequences(t) + 1;
    if (numbers < 4) return false;
    const int* const at = ids_.offsets(t);
    return at[0] + 3 < numbers && numbers == at[0] + at[at[0] + 2] + 4;
  }
  int parent(int t, int row) const {
    const sequence_rows all = items(t);
    return static_cast<int>(std::upper_bound(all.offsets, all.offsets + all.count + 1, row) -
                            all.offsets) -
           1;
  }

  const Array& ids_;
  const Values& values_;
  int steps_;
  std::int64_t end_;
};

/// Sorts the hypotheses of one source by the score of their last token, the highest first.
/// `order()` returns memory for as many numbers as a source may have hypotheses, which is attribute
/// 0 of the call.
template <class Steps, class Order>
class ranked_hypotheses {
 public:
  ranked_hypotheses(const operator_call& c, const Steps& steps, const Order& order)
      : c_(c), steps_(steps), order_(order) {}

  void rank(int source) {
    last_ = steps_.last_step(source);
    int begin = 0, end = 0;
    if (last_ >= 0) begin = steps_.rows(last_, source).begin, end = steps_.rows(last_, source).end;
    count_ = end - begin;
    if (count_ > c_.integer(0))
      fail(c_, {"expected at most ", c_.integer(0), " hypotheses of a source, found ", count_});
    int* const order = order_();
    for (int i = 0; i < count_; ++i) {
      int at = i;
      for (; at > 0 && steps_.score(last_, order[at - 1]) < steps_.score(last_, begin + i); --at)
        order[at] = order[at - 1];
      order[at] = begin + i;
    }
  }
  int count() const { return count_; }
  template <class F>
  int walk(int rank, F&& f) const {
    return steps_.walk(last_, order_()[rank], f);
  }

 private:
  const operator_call& c_;
  const Steps& steps_;
  const Order& order_;
  int last_ = -1, count_ = 0;
};

/// Makes the two LoD levels of the results of beam_search_decode: the hypotheses of each source,
/// and the tokens of each hypothesis.
template <class Call, class Steps, class Order>
void make_hypotheses(const Call& c, const Steps& steps, const Order& order) {
  ranked_hypotheses found(c, steps, order);
  const int made = c.output(is_given(c.output(0)) ? 0 : 1).domain;
  const int hypotheses = make_sequences(c, c.parent_of(made), steps.sources(), [&](int s) {
    found.rank(s);
    return found.count();
  });
  const sequence_rows of = c.sequences(c.parent_of(made));
  int source = -1, end = 0;
  make_sequences(c, made, hypotheses, [&](int h) {
    while (h >= end) found.rank(++source), end = of.end(source);
    return found.walk(h - of.begin(source), [](std::int64_t, auto) {});
  });
}

/// Calls f(row of the results, id, score) for each token of each hypothesis.
template <class Steps, class Order, class F>
void for_each_token(const operator_call& c, const Steps& steps, const Order& order, F&& f) {
  ranked_hypotheses found(c, steps, order);
  int to = 0;
  for (int s = 0; s < steps.sources(); ++s) {
    found.rank(s);
    for (int h = 0; h < found.count(); ++h) {
      int at = to += found.walk(h, [](std::int64_t, auto) {});
      found.walk(h, [&](std::int64_t id, auto score) { f(--at, id, score); });
    }
  }
}

}}}  // namespace lamina::engine
