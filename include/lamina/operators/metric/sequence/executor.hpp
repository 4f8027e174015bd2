// SPDX-License-Identifier: Apache-2.0
// lamina/operators/metric/sequence/executor.hpp - the operators edit_distance and chunk_eval.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <array>
#include <set>

#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Returns the minimal number of insertions, deletions and substitutions that turn one sequence
/// into the other. Computes the table of distances between all prefixes row by row.
inline std::size_t edits(const std::int64_t* a, std::size_t n, const std::int64_t* b,
                         std::size_t m) {
  std::vector<std::size_t> row(m + 1);
  for (std::size_t j = 0; j <= m; ++j) row[j] = j;
  for (std::size_t i = 1; i <= n; ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= m; ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = (std::min)({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[m];
}

template <class Real>
void edit_distance_forward(call_context<Real>& ctx) {
  const auto a = ctx.integers("Hyps"), b = ctx.integers("Refs");
  const lod hyps = ctx.lod("Hyps"), refs = ctx.lod("Refs");
  const std::size_t n = hyps.sequences();
  if (refs.sequences() != n)
    ctx.fail("expected " + std::to_string(n) + " sequences in variable '" + ctx.input_name("Refs") +
             "', found " + std::to_string(refs.sequences()));
  auto out = zeros<Real>({n, 1});
  for (std::size_t s = 0; s < n; ++s) {
    out.flat(s) = static_cast<Real>(edits(a.data() + hyps.last()[s], hyps.length(s),
                                          b.data() + refs.last()[s], refs.length(s)));
    if (!ctx.flag("normalized")) continue;
    if (refs.length(s) == 0)
      ctx.fail("expected sequences with rows in variable '" + ctx.input_name("Refs") +
               "' to divide by their lengths, found none in sequence " + std::to_string(s));
    out.flat(s) /= static_cast<Real>(refs.length(s));
  }
  ctx.give("SequenceNum", tensor::filled<std::int64_t>({1}, static_cast<std::int64_t>(n)));
  ctx.give("Out", std::move(out));
  ctx.set_lod("Out", hyps.above());
}

/// Whether a tag always begins a chunk, whatever tag precedes it, and whether it always ends a
/// chunk.
struct chunk_tag {
  bool begins, ends;
};
/// Returns the tags of a scheme in order; an empty list for an unknown scheme.
inline std::vector<chunk_tag> chunk_tags(const std::string& scheme) {
  if (scheme == "IOB") return {{true, false}, {false, false}};
  if (scheme == "IOE") return {{false, false}, {false, true}};
  if (scheme == "IOBES") return {{true, false}, {false, false}, {false, true}, {true, true}};
  if (scheme == "plain") return {{false, false}};
  return {};
}
/// A chunk: its first row, its last row + 1, and its type.
using chunk = std::array<std::size_t, 3>;

/// Appends the chunks in rows [first, end). A chunk is a run of consecutive tags of one type; a tag
/// that always begins or ends a chunk also divides such a run.
inline void add_chunks(const std::int64_t* label, std::size_t first, std::size_t end,
                       std::size_t types, const std::vector<chunk_tag>& tags,
                       const std::vector<int>& excluded, std::set<chunk>& to) {
  const auto type = [&](std::size_t t) { return static_cast<std::size_t>(label[t]) / tags.size(); };
  const auto tag = [&](std::size_t t) {
    return tags[static_cast<std::size_t>(label[t]) % tags.size()];
  };
  for (std::size_t begin = first, t = first + 1; begin < end; ++t) {
    if (t < end && type(t) == type(begin) && !tag(t - 1).ends && !tag(t).begins) continue;
    const bool counted = std::find(excluded.begin(), excluded.end(),
                                   static_cast<int>(type(begin))) == excluded.end();
    if (type(begin) < types && counted) to.insert({begin, t, type(begin)});
    begin = t;
  }
}

template <class Real>
void chunk_eval_forward(call_context<Real>& ctx) {
  const std::vector<chunk_tag> tags = chunk_tags(ctx.text("chunk_scheme"));
  if (tags.empty())
    ctx.fail("expected the chunk_scheme IOB, IOE, IOBES or plain, found '" +
             ctx.text("chunk_scheme") + "'");
  const int types = ctx.integer("num_chunk_types", 1);
  const lod& sequences = ctx.lod("Label");
  if (ctx.input("Inference").size() != sequences.rows())
    ctx.fail("expected " + std::to_string(sequences.rows()) + " tags in variable '" +
             ctx.input_name("Inference") + "', found " +
             std::to_string(ctx.input("Inference").size()));
  std::set<chunk> found[2];
  for (int i = 0; i < 2; ++i) {
    const char* slot = i == 0 ? "Inference" : "Label";
    const auto label = ctx.integers(slot);
    for (const std::int64_t l : label)
      ctx.require_range(slot, l, 0, types * static_cast<std::int64_t>(tags.size()) + 1);
    for (std::size_t s = 0; s < sequences.sequences(); ++s)
      add_chunks(label.data(), sequences.last()[s], sequences.last()[s + 1],
                 static_cast<std::size_t>(types), tags, ctx.integer_list("excluded_chunk_types"),
                 found[i]);
  }
  std::int64_t correct = 0;
  for (const chunk& c : found[0]) correct += static_cast<std::int64_t>(found[1].count(c));
  const auto part = [&](std::size_t of) {
    return of == 0 ? Real(0) : static_cast<Real>(correct) / static_cast<Real>(of);
  };
  const Real precision = part(found[0].size()), recall = part(found[1].size());
  const Real f1 = correct == 0 ? Real(0) : 2 * precision * recall / (precision + recall);
  const auto count = [](std::size_t n) {
    return tensor::filled<std::int64_t>({1}, static_cast<std::int64_t>(n));
  };
  ctx.give("Precision", tensor::filled<Real>({1}, precision));
  ctx.give("Recall", tensor::filled<Real>({1}, recall));
  ctx.give("F1-Score", tensor::filled<Real>({1}, f1));
  ctx.give("NumInferChunks", count(found[0].size()));
  ctx.give("NumLabelChunks", count(found[1].size()));
  ctx.give("NumCorrectChunks", count(static_cast<std::size_t>(correct)));
}

template <class Real>
void add_sequence_metric_kernels(kernel_table<Real>& table) {
  table["edit_distance"] = edit_distance_forward<Real>;
  table["chunk_eval"] = chunk_eval_forward<Real>;
}

}}}  // namespace lamina::kernel
