// SPDX-License-Identifier: Apache-2.0
// lamina/executor/kernels_beam_search.hpp - beam_search.
#pragma once

#include <algorithm>
#include <cmath>

#include <lamina/executor/kernel_shape.hpp>
#include <lamina/executor/kernel_table.hpp>

namespace lamina::kernel {

/// A hypothesis and one id more.
template <class Real>
struct beam_candidate {
  std::size_t parent;
  std::int64_t id;
  Real score;

  bool operator<(const beam_candidate& other) const {
    return score != other.score ? score < other.score : parent < other.parent;
  }
};

/// Adds a candidate to the best ones, the best first, and keeps `most` of them.
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
void beam_search_forward(kernel_context<Real>& ctx) {
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
    // The end itself is written, so a source is left out one step after all of it ended.
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

template <class Real>
void add_beam_search_kernels(kernel_table<Real>& table) {
  table["beam_search"] = beam_search_forward<Real>;
}

}  // namespace lamina::kernel
