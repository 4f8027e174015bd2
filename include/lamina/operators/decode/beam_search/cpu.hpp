// SPDX-License-Identifier: Apache-2.0
// lamina/operators/decode/beam_search/cpu.hpp - the kernel of beam_search.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <cstdint>

#include <lamina/engine/cpu/memory/row_parts.hpp>
#include <lamina/operators/decode/beam_search/common.hpp>
#include <lamina/operators/decode/beam_search/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

template <>
struct call_kernel<operators::beam_search> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  /// Returns the scratch memory for the best candidates of each source and for their number.
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);

 private:
  static void require_rows(const call_context& c, const operand& scores) {
    const operand ids = c.input(0), before = c.input(1), candidates = c.input(2);
    if (ids.rows != scores.rows || before.rows != scores.rows ||
        (candidates && (candidates.rows != scores.rows || candidates.columns != scores.columns)))
      fail(c, {"expected ", scores.rows, " ids and scores before, found ", ids.rows, " and ",
               before.rows, "; candidates of ", scores.columns, " columns"});
  }

  template <class Real>
  struct search {
    using candidate = beam_candidate<Real>;

    const call_context& c;
    int domain, below;

    // These offsets of the sources are copies, because the result may overwrite the sequences from
    // which they are read.
    int begin(int s) const { return first()[s]; }
    int end(int s) const { return first()[s + 1]; }
    candidate* best(int s) const {
      return reinterpret_cast<candidate*>(c.scratch()) +
             static_cast<std::ptrdiff_t>(s) * c.integer(1);
    }
    int sources() const { return c.rows_in(domain_above(c, domain, below)); }
    // The scratch memory holds, in this order: the candidates, their number per source, a flag that
    // tells whether the search is finished, and the offsets of the sources.
    std::int32_t* counts() const { return reinterpret_cast<std::int32_t*>(best(sources())); }
    std::int32_t& count(int s) const { return counts()[s]; }
    std::int32_t* first() const { return counts() + sources() + 1; }

    void run_all() const {
      for (int s = 0; s <= sources(); ++s) first()[s] = first_below(c, domain, below, 0, s);
      for (int s = 0; s < sources(); ++s) run(s);
      count(sources()) = 1;
    }
    // Repeats the search if the scratch memory was enlarged when the output got its rows: new
    // scratch memory is all zeros, so the flag of a finished search is 0.
    void run_again() const {
      if (count(sources()) == 0) run_all();
    }
    void run(int s) const {
      const operand pre_ids = c.input(0), pre_scores = c.input(1), ids = c.input(2);
      const operand scores = c.input(3);
      const std::int64_t end_id = c.integer(2);
      const bool is_accumulated = c.flag(3);
      beam_best<Real> found{best(s), c.integer(1)};
      const int rows = end(s);
      for (int r = begin(s); r < rows; ++r) {
        const Real before = *pre_scores.row<const Real>(r);
        if (integer_in(pre_ids, r, 0) == end_id) {
          found.keep({end_id, before, r});
          continue;
        }
        const Real* const of = scores.row<const Real>(r);
        for (int k = 0; k < scores.columns; ++k) {
          const Real score = is_accumulated ? of[k] : before + std::log(of[k]);
          if (found.count == found.most && score < found.items[found.count - 1].score) continue;
          found.keep({ids ? integer_in(ids, r, k) : k, score, r});
        }
      }
      // A hypothesis ends by the end token, which must be written once. So a source is dropped one
      // step after all of its hypotheses have ended.
      bool is_over = true;
      for (int i = 0; i < found.count; ++i)
        is_over = is_over && found.items[i].id == end_id &&
                  integer_in(pre_ids, found.items[i].parent, 0) == end_id;
      count(s) = is_over ? 0 : found.count;
    }
    /// Calls f for each selected candidate of source s that continues row r. Returns their number.
    template <class F>
    int selected(int s, int r, F&& f) const {
      int n = 0;
      for (int i = 0; i < count(s); ++i)
        if (best(s)[i].parent == r) f(best(s)[i]), ++n;
      return n;
    }
  };
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::beam_search>::run(const call_context& c) {
  const operand scores = c.input(3);
  require_real<Real>(c, scores);
  const int levels = levels_of(c, scores.domain), below = levels - c.integer(0);
  if (below < 1 || below > levels)
    fail(c, {"expected a level below ", levels, ", found ", c.integer(0)});
  if (c.integer(1) < 1) fail(c, {"expected a beam_size of at least 1, found ", c.integer(1)});
  require_rows(c, scores);
  const search<Real> found{c, scores.domain, below};
  const int sources = found.sources();
  found.run_all();
  // Each input row is a hypothesis of a source. The output has one sequence per input row, with the
  // selected continuations of the hypothesis.
  int out = 0;
  while (!is_given(c.output(out))) ++out;
  const int made = c.output(out).domain, rows = scores.rows;
  make_sequences(c, c.parent_of(made), sources,
                 [&](int s) { return found.end(s) - found.begin(s); });
  found.run_again();
  int source = 0;
  make_sequences(c, made, rows, [&](int r) {
    while (r >= found.end(source)) ++source;
    return found.selected(source, r, [](const beam_candidate<Real>&) {});
  });
  found.run_again();
  const operand id = c.output(0), score = c.output(1), parent = c.output(2);
  int to = 0;
  for (int s = 0; s < sources; ++s)
    for (int r = found.begin(s); r < found.end(s); ++r)
      found.selected(s, r, [&](const beam_candidate<Real>& one) {
        if (id) *id.row<std::int64_t>(to) = one.id;
        if (score) *score.row<Real>(to) = one.score;
        if (parent) *parent.row<std::int32_t>(to) = one.parent;
        ++to;
      });
}
LAMINA_INSTANCE(void call_kernel<operators::beam_search>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::beam_search>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<operators::beam_search>::scratch(const call_context& c) {
  const int domain = c.input(3).domain;
  const std::ptrdiff_t sources =
      c.rows_in(domain_above(c, domain, levels_of(c, domain) - c.integer(0)));
  constexpr std::ptrdiff_t floats = sizeof(beam_candidate<Real>) / sizeof(float);
  return sources * (c.integer(1) * floats + 2) + 2;
}
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<operators::beam_search>::scratch<float>(const call_context&))
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<operators::beam_search>::scratch<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
