// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/beam_search_decode_kernels.hpp - beam_search_decode: whole hypotheses.
#pragma once

#include <algorithm>
#include <cstdint>

#include <lamina/engine/cpu/array_kernels.hpp>
#include <lamina/operators/beam_search.hpp>

namespace lamina::engine::cpu {

namespace detail {

/// The steps of a beam search: what the slots of two arrays hold.
class beam_steps {
 public:
  beam_steps(const call_context& c, const operand& ids, const operand& scores)
      : ids_(ids), scores_(scores), steps_(array_of(ids).size()), end_(c.integer(1)) {
    tensor_array &id = array_of(ids), &score = array_of(scores);
    if (steps_ == 0 || score.size() != steps_)
      fail(c, {"expected as many steps of scores as of ids, and one at least, found ", score.size(),
               " and ", steps_});
    for (int t = 0; t < steps_; ++t) {
      if (!id.holds(t) || !score.holds(t) || !has_two_levels(id, t) || id.rows(t) != score.rows(t))
        fail(c, {"expected ids and scores of two levels of sequences in step ", t});
      if (t > 0 && (items(t).count != id.rows(t - 1) || sources(t).count != sources(0).count))
        fail(c, {"expected a sequence for each of the ", id.rows(t - 1), " hypotheses of ",
                 sources(0).count, " sources in step ", t, ", found ", items(t).count, " of ",
                 sources(t).count});
    }
  }

  int sources() const { return sources(0).count; }
  /// The last step that has hypotheses of a source; -1 if none has.
  int last_step(int source) const {
    int t = steps_ - 1;
    while (t >= 0 && rows(t, source).begin == rows(t, source).end) --t;
    return t;
  }
  struct row_range {
    int begin, end;
  };
  /// The hypotheses of a source at a step.
  row_range rows(int t, int source) const {
    const sequence_rows of = sources(t), all = items(t);
    return {all.offsets[of.begin(source)], all.offsets[of.end(source)]};
  }
  float score(int t, int row) const { return *slot_of(scores_, t).row<const float>(row); }
  /// Calls f(id, score) for a hypothesis from its last step backwards; only the first of its ends
  /// stays. Returns how many there are.
  template <class F>
  int walk(int t, int row, F&& f) const {
    f(id(t, row), score(t, row));
    int n = 1;
    while (t-- > 0) {
      row = parent(t + 1, row);
      const std::int64_t one = id(t, row);
      if (one != end_) f(one, score(t, row)), ++n;
    }
    return n;
  }

 private:
  // A slot keeps two levels of offsets, each behind its number of sequences.
  sequence_rows sources(int t) const {
    const int* const at = array_of(ids_).offsets(t);
    return {at + 1, at[0]};
  }
  sequence_rows items(int t) const {
    const int* const at = array_of(ids_).offsets(t) + sources(t).count + 2;
    return {at + 1, at[0]};
  }
  static bool has_two_levels(const tensor_array& ids, int t) {
    const int numbers = ids.sequences(t) == 0 ? 0 : ids.sequences(t) + 1;
    if (numbers < 4) return false;
    const int* const at = ids.offsets(t);
    return at[0] + 3 < numbers && numbers == at[0] + at[at[0] + 2] + 4;
  }
  std::int64_t id(int t, int row) const { return integer_in(slot_of(ids_, t), row, 0); }
  int parent(int t, int row) const {
    const sequence_rows all = items(t);
    return static_cast<int>(std::upper_bound(all.offsets, all.offsets + all.count + 1, row) -
                            all.offsets) -
           1;
  }

  operand ids_, scores_;
  int steps_;
  std::int64_t end_;
};

/// The hypotheses of one source, those with the highest last score first.
class ranked_hypotheses {
 public:
  ranked_hypotheses(const call_context& c, const beam_steps& steps) : c_(c), steps_(steps) {}

  void rank(int source) {
    last_ = steps_.last_step(source);
    const beam_steps::row_range rows =
        last_ < 0 ? beam_steps::row_range{0, 0} : steps_.rows(last_, source);
    count_ = rows.end - rows.begin;
    if (count_ > c_.integer(0))
      fail(c_, {"expected at most ", c_.integer(0), " hypotheses of a source, found ", count_});
    int* const order = by_rank();
    for (int i = 0; i < count_; ++i) {
      int at = i;
      for (; at > 0 && steps_.score(last_, order[at - 1]) < steps_.score(last_, rows.begin + i);
           --at)
        order[at] = order[at - 1];
      order[at] = rows.begin + i;
    }
  }
  int count() const { return count_; }
  template <class F>
  int walk(int rank, F&& f) const {
    return steps_.walk(last_, by_rank()[rank], f);
  }

 private:
  int* by_rank() const { return reinterpret_cast<int*>(c_.scratch()); }

  const call_context& c_;
  const beam_steps& steps_;
  int last_ = -1, count_ = 0;
};

}  // namespace detail

template <>
struct call_kernel<beam_search_decode> {
  template <class = void>
  static void run(const call_context& c) {
    require_float(c, c.input(1));
    const detail::beam_steps steps(c, c.input(0), c.input(1));
    detail::ranked_hypotheses found(c, steps);
    const int made = c.output(is_given(c.output(0)) ? 0 : 1).domain;
    const int hypotheses = make_sequences(c, c.parent_of(made), steps.sources(), [&](int s) {
      found.rank(s);
      return found.count();
    });
    const auto none = [](std::int64_t, float) {};
    const sequence_rows of = c.sequences(c.parent_of(made));
    int source = -1, end = 0;
    make_sequences(c, made, hypotheses, [&](int h) {
      while (h >= end) found.rank(++source), end = of.end(source);
      return found.walk(h - of.begin(source), none);
    });
    const operand id = c.output(0), score = c.output(1);
    int to = 0;
    for (int s = 0; s < steps.sources(); ++s) {
      found.rank(s);
      for (int h = 0; h < found.count(); ++h) {
        int at = to += found.walk(h, none);
        found.walk(h, [&](std::int64_t one, float of_one) {
          --at;
          if (id) *id.row<std::int64_t>(at) = one;
          if (score) *score.row<float>(at) = of_one;
        });
      }
    }
  }
  template <class = void>
  static std::ptrdiff_t scratch(const call_context& c) {
    return c.integer(0);
  }
};

}  // namespace lamina::engine::cpu
