// SPDX-License-Identifier: Apache-2.0
// lamina/operators/decode/beam_search/cuda.cuh - beam_search, beam_search_decode. A team of threads
// selects the best candidates of each source, because a hypothesis may have as many candidates as a
// dictionary has words. The few best ones are copied to the host, which computes the sequences of
// the results.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <vector>

#include <lamina/core/numbers/math.hpp>
#include <lamina/engine/cuda/body/element_loops.cuh>
#include <lamina/engine/cuda/schedule/dynamic_sequences.hpp>
#include <lamina/operators/control/array/cuda.cuh>
#include <lamina/operators/decode/beam_search/common.hpp>
#include <lamina/operators/decode/beam_search/common_steps.hpp>
#include <lamina/operators/decode/beam_search/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// Each team finds the best candidates of one source. Each thread of the team compares one
/// candidate with the last candidate of the list. The team inserts the first candidate that is
/// better, then all threads compare again, because the list has changed. When no candidate is
/// better, each thread reads its next candidate.
struct beam_search_lines {
  struct arguments {
    argument_view pre_ids, pre_scores, ids, scores;
    beam_candidate<float>* best;
    int* kept;         // per source: the number of its best candidates
    const int* first;  // per source: its first row
    std::int64_t end_id;
    int beam_size;
    bool is_accumulated;
    int lines, width, count;
  };
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int columns = a.scores.columns, first = a.first[s];
    const int all = (a.first[s + 1] - first) * columns;
    beam_best<float> best{a.best + static_cast<std::ptrdiff_t>(s) * a.beam_size, a.beam_size};
    LAMINA_CUDA_KEEP_LOOP
    for (int from = 0; from < all; from += team.size()) {
      const int mine = from + team.rank();
      beam_candidate<float> c{0, 0, 0};
      bool is_there = mine < all && read(a, first + mine / columns, mine % columns, c);
      for (;;) {
        const int next = smallest_of(team, is_there && best.keeps(c) ? mine : all);
        if (next == all) break;
        // All threads must have compared before the list changes below.
        team.barrier();
        if (mine == next)
          best.keep(c), is_there = false;
        else if (best.count < best.most)
          ++best.count;
        team.barrier();
      }
    }
    if (team.rank() == 0) a.kept[s] = is_over(a, best) ? 0 : best.count;
  }

 private:
  static LAMINA_INLINE LAMINA_FN bool has_ended(const arguments& a, int row) {
    return a.pre_ids.integer(row * a.pre_ids.columns) == a.end_id;
  }
  /// Reads candidate k of a row. Returns false if the row has no candidate k.
  static LAMINA_INLINE LAMINA_FN bool read(const arguments& a, int row, int k,
                                           beam_candidate<float>& c) {
    const float before = *a.pre_scores.row<const float>(row);
    if (has_ended(a, row)) {
      c = {a.end_id, before, row};
      return k == 0;
    }
    const float score = a.scores.row<const float>(row)[k];
    c = {a.ids ? a.ids.integer(row * a.ids.columns + k) : k,
         a.is_accumulated ? score : before + math::log(score), row};
    return true;
  }
  // A hypothesis ends by the end token, which must be written once. So a source is dropped one step
  // after all of its hypotheses have ended.
  static LAMINA_INLINE LAMINA_FN bool is_over(const arguments& a, const beam_best<float>& best) {
    LAMINA_CUDA_KEEP_LOOP
    for (int i = 0; i < best.count; ++i)
      if (best.items[i].id != a.end_id || !has_ended(a, best.items[i].parent)) return false;
    return true;
  }
};

/// The scratch memory of a search: the best candidates, their number per source, and the first row
/// of each source.
struct beam_scratch {
  std::size_t sources, beam_size;

  static constexpr std::size_t floats = sizeof(beam_candidate<float>) / sizeof(float);
  std::size_t counts() const { return sources * beam_size * floats; }
  std::size_t first() const { return counts() + sources; }
  std::size_t size() const { return first() + sources + 1; }
};

}  // namespace detail

template <>
struct call_kernel<operators::beam_search> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const host_rows h(c);
    const operand scores = c.input(3);
    require_float(c, scores);
    const int levels = levels_of(c, scores.domain), below = levels - c.integer(0);
    if (below < 1 || below > levels)
      fail(c, {"expected a level below ", levels, ", found ", c.integer(0)});
    if (c.integer(1) < 1) fail(c, {"expected a beam_size of at least 1, found ", c.integer(1)});
    require_rows(c, scores);
    const int sources = c.rows_in(domain_above(c, scores.domain, below));
    // These offsets of the sources are copies, because the result may overwrite the sequences from
    // which they are read.
    std::vector<int> first, kept;
    for (int s = 0; s <= sources; ++s) first.push_back(first_below(h, scores.domain, below, 0, s));
    std::vector<beam_candidate<float>> best;
    if (sources > 0) search(b, c, first, best, kept);

    // Each input row is a hypothesis of a source. The output has one sequence per input row, with
    // the selected continuations of the hypothesis.
    std::vector<beam_candidate<float>> selected;
    std::vector<int> lengths;
    const std::size_t beam_size = static_cast<std::size_t>(c.integer(1));
    for (std::size_t s = 0; s + 1 < first.size(); ++s)
      for (int r = first[s]; r < first[s + 1]; ++r) {
        const std::size_t before = selected.size();
        for (std::size_t i = 0; i < static_cast<std::size_t>(kept[s]); ++i)
          if (best[s * beam_size + i].parent == r) selected.push_back(best[s * beam_size + i]);
        lengths.push_back(static_cast<int>(selected.size() - before));
      }
    int out = 0;
    while (!is_given(c.output(out))) ++out;
    const int made = c.output(out).domain;
    make_sequences(h, c.parent_of(made), sources, [&](int s) {
      const std::size_t at = static_cast<std::size_t>(s);
      return first[at + 1] - first[at];
    });
    make_sequences(h, made, scores.rows,
                   [&](int r) { return lengths[static_cast<std::size_t>(r)]; });
    write(c, c.output(0), selected, [](const beam_candidate<float>& one) { return one.id; });
    write(c, c.output(1), selected, [](const beam_candidate<float>& one) { return one.score; });
    write(c, c.output(2), selected, [](const beam_candidate<float>& one) { return one.parent; });
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    const int domain = c.input(3).domain;
    const int sources = c.rows_in(domain_above(c, domain, levels_of(c, domain) - c.integer(0)));
    return static_cast<std::ptrdiff_t>(detail::beam_scratch{static_cast<std::size_t>(sources),
                                                            static_cast<std::size_t>(c.integer(1))}
                                           .size());
  }

 private:
  static void require_rows(const call_context& c, const operand& scores) {
    const operand ids = c.input(0), before = c.input(1), candidates = c.input(2);
    if (ids.rows != scores.rows || before.rows != scores.rows ||
        (candidates && (candidates.rows != scores.rows || candidates.columns != scores.columns)))
      fail(c, {"expected ", scores.rows, " ids and scores before, found ", ids.rows, " and ",
               before.rows, "; candidates of ", scores.columns, " columns"});
  }
  /// Computes the best candidates of all sources, and how many each source has. The host waits for
  /// both results.
  template <class Backend>
  static void search(Backend& b, const call_context& c, const std::vector<int>& first,
                     std::vector<beam_candidate<float>>& best, std::vector<int>& kept) {
    const std::size_t sources = first.size() - 1,
                      beam_size = static_cast<std::size_t>(c.integer(1));
    const detail::beam_scratch at{sources, beam_size};
    const device_reader& device = *c.run.reader;
    device.write(device.machine, c.run.scratch + at.first(), first.data(),
                 first.size() * sizeof(int));
    detail::beam_search_lines::arguments a{};
    a.pre_ids = c.in(0);
    a.pre_scores = c.in(1);
    a.ids = c.in(2);
    a.scores = c.in(3);
    a.best = reinterpret_cast<beam_candidate<float>*>(c.run.scratch);
    a.kept = reinterpret_cast<int*>(c.run.scratch + at.counts());
    a.first = reinterpret_cast<const int*>(c.run.scratch + at.first());
    a.end_id = c.integer(2);
    a.beam_size = c.integer(1);
    a.is_accumulated = c.flag(3);
    a.lines = a.count = static_cast<int>(sources);
    a.width = a.scores.rows / a.lines * a.scores.columns;
    b.template lines<team_lines<detail::beam_search_lines>>(a);
    best.resize(sources * beam_size);
    kept.resize(sources);
    device.read(device.machine, best.data(), a.best, best.size() * sizeof(beam_candidate<float>));
    device.read(device.machine, kept.data(), a.kept, kept.size() * sizeof(int));
  }
  template <class Of>
  static void write(const call_context& c, const operand& to,
                    const std::vector<beam_candidate<float>>& selected, const Of& of) {
    if (!to || selected.empty()) return;
    std::vector<decltype(of(selected[0]))> rows(selected.size() *
                                                static_cast<std::size_t>(to.stride));
    for (std::size_t r = 0; r < selected.size(); ++r)
      rows[r * static_cast<std::size_t>(to.stride)] = of(selected[r]);
    c.run.reader->write(c.run.reader->machine, to.data, rows.data(), rows.size() * sizeof(rows[0]));
  }
};

namespace detail {

/// The ids and scores in the slots of two arrays, copied to the host. The constructor waits for the
/// copies.
class slot_values {
 public:
  template <class Backend>
  void read(const call_context& c, const operand& ids, const operand& scores) {
    for (int t = 0; t < array_of<Backend>(ids).size(); ++t) {
      ids_.push_back(read_slot(c, slot_of<Backend>(ids, t)));
      scores_.push_back(read_slot(c, slot_of<Backend>(scores, t)));
    }
  }
  std::int64_t id(int t, int row) const {
    const slot& s = ids_[static_cast<std::size_t>(t)];
    return load_integer(s.words.data(), s.type, row * s.stride);
  }
  float score(int t, int row) const {
    const slot& s = scores_[static_cast<std::size_t>(t)];
    return static_cast<float>(load_number(s.words.data(), s.type, row * s.stride));
  }

 private:
  struct slot {
    std::vector<std::uint64_t> words;
    dtype type;
    std::ptrdiff_t stride;
  };
  static slot read_slot(const call_context& c, const operand& o) {
    const std::size_t bytes = static_cast<std::size_t>(o.rows) *
                              static_cast<std::size_t>(o.stride) *
                              static_cast<std::size_t>(size_of(o.type));
    slot s{std::vector<std::uint64_t>(bytes / sizeof(std::uint64_t) + 1), o.type, o.stride};
    if (bytes > 0) c.run.reader->read(c.run.reader->machine, s.words.data(), o.data, bytes);
    return s;
  }

  std::vector<slot> ids_, scores_;
};

}  // namespace detail

template <>
struct call_kernel<operators::beam_search_decode> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend&, const call_context& c) {
    const host_rows h(c);
    const operand ids = c.input(0), scores = c.input(1);
    require_float(c, scores);
    detail::slot_values values;
    const beam_steps steps(c, detail::array_of<Backend>(ids), detail::array_of<Backend>(scores),
                           values);
    values.read<Backend>(c, ids, scores);
    std::vector<int> ranks(static_cast<std::size_t>(c.integer(0) > 0 ? c.integer(0) : 0));
    const auto order = [&] { return ranks.data(); };
    make_hypotheses(h, steps, order);
    const operand id = c.output(0), score = c.output(1);
    const operand& one = id ? id : score;
    std::vector<std::int64_t> found(static_cast<std::size_t>(one.rows) *
                                    static_cast<std::size_t>(id ? id.stride : 0));
    std::vector<float> of_found(static_cast<std::size_t>(one.rows) *
                                static_cast<std::size_t>(score ? score.stride : 0));
    for_each_token(c, steps, order, [&](int row, std::int64_t token, float of_token) {
      if (id) found[static_cast<std::size_t>(row * id.stride)] = token;
      if (score) of_found[static_cast<std::size_t>(row * score.stride)] = of_token;
    });
    const device_reader& device = *c.run.reader;
    device.write(device.machine, id.data, found.data(), found.size() * sizeof(std::int64_t));
    device.write(device.machine, score.data, of_found.data(), of_found.size() * sizeof(float));
  }
};

}}}  // namespace lamina::engine::cuda
