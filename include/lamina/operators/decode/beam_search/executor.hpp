// SPDX-License-Identifier: Apache-2.0
// lamina/operators/decode/beam_search/executor.hpp - the operators beam_search and
// beam_search_decode.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include <lamina/core/arrays/sort_stably.hpp>
#include <lamina/core/numbers/extremes.hpp>
#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// A candidate: the hypothesis in row `parent`, extended by one id.
template <class Real>
struct beam_candidate {
  std::size_t parent;
  std::int64_t id;
  Real score;

  /// Whether this candidate is worse. A NaN score ranks above any number, as in top_k.
  bool operator<(const beam_candidate& other) const {
    return math::is_same(score, other.score) ? parent < other.parent
                                             : math::is_above(other.score, score);
  }
};

/// Inserts a candidate into the list `best`, which is sorted with the best candidate first and
/// keeps at most `most` candidates.
template <class Real>
void keep_best(std::vector<beam_candidate<Real>>& best, const beam_candidate<Real>& c,
               std::size_t most) {
  if (best.size() == most) {
    if (c < best.back()) return;
    best.pop_back();
  }
  best.insert(std::find_if(best.begin(), best.end(), [&](const auto& b) { return b < c; }), c);
}

template <class Real>
void beam_search_forward(call_context<Real>& ctx) {
  const auto before = ctx.integers("pre_ids");
  const auto& before_scores = ctx.real("pre_scores");
  const auto& scores = ctx.real("scores");
  const bool whole = !ctx.has("ids");
  const auto ids = whole ? xt::xarray<std::int64_t>() : ctx.integers("ids");
  const lod sequences = ctx.lod("scores");
  const int level = ctx.integer("level"), beam_size = ctx.integer("beam_size", 1);
  const std::size_t rows = shape_of(scores)[0], width = matrix(shape_of(scores), 1).columns;
  if (level < 0 || static_cast<std::size_t>(level) >= sequences.levels())
    ctx.fail("expected a level below " + std::to_string(sequences.levels()) + ", found " +
             std::to_string(level));
  if (beam_size < 1)
    ctx.fail("expected a beam_size of at least 1, found " + std::to_string(beam_size));
  if (before.size() != rows || before_scores.size() != rows ||
      (!whole && ids.size() != scores.size()))
    ctx.fail("expected " + std::to_string(rows) + " ids and scores before, and candidates " +
             to_string(shape_of(scores)) + ", found " + std::to_string(before.size()) + ", " +
             std::to_string(before_scores.size()) + " and " +
             to_string(whole ? shape_of(scores) : shape_of(ids)));
  const std::int64_t end = ctx.integer("end_id");
  const lod::level sources = sequences.absolute(static_cast<std::size_t>(level));
  std::vector<std::vector<beam_candidate<Real>>> selected(rows);
  for (std::size_t s = 0; s + 1 < sources.size(); ++s) {
    std::vector<beam_candidate<Real>> best;
    const auto keep = [&](std::size_t r, std::int64_t id, Real score) {
      keep_best(best, {r, id, score}, static_cast<std::size_t>(beam_size));
    };
    for (std::size_t r = sources[s]; r < sources[s + 1]; ++r) {
      if (before.flat(r) == end) {
        keep(r, end, before_scores.flat(r));
        continue;
      }
      for (std::size_t k = 0; k < width; ++k) {
        const Real score = scores.flat(r * width + k);
        keep(r, whole ? static_cast<std::int64_t>(k) : ids.flat(r * width + k),
             ctx.flag("is_accumulated") ? score : before_scores.flat(r) + std::log(score));
      }
    }
    // A hypothesis ends by the end token, which must be written once. So a source is dropped one
    // step after all of its hypotheses have ended.
    const bool over = std::all_of(best.begin(), best.end(), [&](const auto& c) {
      return c.id == end && before.flat(c.parent) == end;
    });
    for (const auto& c : best)
      if (!over) selected[c.parent].push_back(c);
  }
  std::vector<std::int64_t> id;
  std::vector<Real> score;
  std::vector<std::int32_t> parent;
  lod::level of_source, of_parent;
  for (std::size_t s = 0; s + 1 < sources.size(); ++s)
    of_source.push_back(sources[s + 1] - sources[s]);
  for (const auto& of_row : selected) {
    of_parent.push_back(of_row.size());
    for (const beam_candidate<Real>& c : of_row) {
      id.push_back(c.id);
      score.push_back(c.score);
      parent.push_back(static_cast<std::int32_t>(c.parent));
    }
  }
  const lod made = lod::from_lengths({of_source, of_parent});
  ctx.give("selected_ids", tensor({id.size(), 1}, id));
  ctx.give("selected_scores", tensor({id.size(), 1}, score));
  ctx.give("parent_idx", tensor({id.size()}, parent));
  for (const char* slot : {"selected_ids", "selected_scores", "parent_idx"})
    ctx.set_lod(slot, made);
}

/// The ids and scores of one hypothesis, the last token first, and the row of the previous step
/// that the hypothesis continues.
template <class Real>
struct beam_hypothesis {
  std::vector<std::int64_t> ids;
  std::vector<Real> scores;
  std::size_t parent;
};

/// Fails unless each step has as many ids as scores, and one sequence per row of the previous step.
template <class Real>
void require_steps(const call_context<Real>& ctx, const std::vector<lod_tensor>& ids,
                   const std::vector<lod_tensor>& scores) {
  if (ids.empty() || ids.size() != scores.size())
    ctx.fail("expected as many steps in '" + ctx.input_name("Scores") + "' as in '" +
             ctx.input_name("Ids") + "', and one at least, found " + std::to_string(scores.size()) +
             " and " + std::to_string(ids.size()));
  for (std::size_t t = 0; t < ids.size(); ++t) {
    const std::string step = "step " + std::to_string(t) + " of '" + ctx.input_name("Ids") + "'";
    if (!ids[t].has_value() || !scores[t].has_value() || ids[t].lod().levels() != 2 ||
        ids[t].size() != ids[t].lod().rows() || scores[t].size() != ids[t].size())
      ctx.fail("expected ids and scores of two levels of sequences in " + step);
    if (t > 0 && (ids[t].lod().sequences() != ids[t - 1].size() ||
                  ids[t].lod().sequences(0) != ids[0].lod().sequences(0)))
      ctx.fail("expected a sequence for each of the " + std::to_string(ids[t - 1].size()) +
               " hypotheses of " + std::to_string(ids[0].lod().sequences(0)) + " sources in " +
               step + ", found lengths " + to_string(ids[t].lod()));
  }
}

/// Returns the hypotheses of source s, the best one first.
template <class Real>
std::vector<beam_hypothesis<Real>> hypotheses_of(const std::vector<lod_tensor>& ids,
                                                 const std::vector<lod_tensor>& scores,
                                                 std::int64_t end, std::size_t s) {
  std::vector<beam_hypothesis<Real>> found;
  for (std::size_t t = ids.size(); t-- > 0;) {
    const lod::level &sources = ids[t].lod().offsets(0), &rows = ids[t].lod().last();
    const auto id = ids[t].template cast<std::int64_t>();
    const auto score = scores[t].template cast<Real>();
    const auto parent = [&](std::size_t row) {
      return static_cast<std::size_t>(std::upper_bound(rows.begin(), rows.end(), row) -
                                      rows.begin() - 1);
    };
    for (beam_hypothesis<Real>& h : found) {
      if (id.flat(h.parent) != end) {
        h.ids.push_back(id.flat(h.parent));
        h.scores.push_back(score.flat(h.parent));
      }
      h.parent = parent(h.parent);
    }
    if (!found.empty()) continue;
    for (std::size_t r = rows[sources[s]]; r < rows[sources[s + 1]]; ++r)
      found.push_back({{id.flat(r)}, {score.flat(r)}, parent(r)});
  }
  std::vector<std::size_t> order(found.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  sort_stably(
      order, [&](std::size_t a, std::size_t b) { return found[a].scores[0] > found[b].scores[0]; });
  std::vector<beam_hypothesis<Real>> sorted;
  for (const std::size_t i : order) sorted.push_back(std::move(found[i]));
  return sorted;
}

template <class Real>
void beam_search_decode_forward(call_context<Real>& ctx) {
  const std::vector<lod_tensor>&ids = ctx.array_of("Ids"), &scores = ctx.array_of("Scores");
  require_steps(ctx, ids, scores);
  const std::size_t most = static_cast<std::size_t>(ctx.integer("beam_size", 1));
  std::vector<std::int64_t> id;
  std::vector<Real> score;
  lod::level of_source, of_hypothesis;
  for (std::size_t s = 0; s < ids[0].lod().sequences(0); ++s) {
    const auto found = hypotheses_of<Real>(ids, scores, ctx.integer("end_id"), s);
    if (found.size() > most)
      ctx.fail("expected at most " + std::to_string(most) + " hypotheses of a source in '" +
               ctx.input_name("Ids") + "', found " + std::to_string(found.size()));
    of_source.push_back(found.size());
    for (const beam_hypothesis<Real>& h : found) {
      of_hypothesis.push_back(h.ids.size());
      id.insert(id.end(), h.ids.rbegin(), h.ids.rend());
      score.insert(score.end(), h.scores.rbegin(), h.scores.rend());
    }
  }
  const lod made = lod::from_lengths({of_source, of_hypothesis});
  ctx.give("SentenceIds", tensor({id.size(), 1}, id));
  ctx.give("SentenceScores", tensor({id.size(), 1}, score));
  ctx.set_lod("SentenceIds", made);
  ctx.set_lod("SentenceScores", made);
}

template <class Real>
void add_beam_search_kernels(kernel_table<Real>& table) {
  table["beam_search"] = beam_search_forward<Real>;
  table["beam_search_decode"] = beam_search_decode_forward<Real>;
}

}}}  // namespace lamina::kernel
