// SPDX-License-Identifier: Apache-2.0
// lamina/operators/metric/sequence/cuda.cuh - the kernels of edit_distance and chunk_eval. Each
// thread compares one sequence with its expected sequence.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/engine/cuda/body/part_copy.cuh>
#include <lamina/operators/metric/sequence/common.hpp>
#include <lamina/operators/metric/sequence/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// Computes the edit distance of two sequences from the table of distances between their prefixes,
/// row by row. Only one row of the table is kept.
struct edit_distance_body {
  struct arguments {
    argument_view hyps, refs, out;
    sequence_view from, to;
    int* rows;  // the kept table rows of all sequences
    bool normalized;
    fault_word* fault;
    int group, count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int s) {
    const int first = a.to.begin(s), m = a.to.end(s) - first;
    int* const row = a.rows + first + s;
    LAMINA_CUDA_KEEP_LOOP
    for (int j = 0; j <= m; ++j) row[j] = j;
    LAMINA_CUDA_KEEP_LOOP
    for (int i = a.from.begin(s); i < a.from.end(s); ++i) {
      const std::int64_t id = a.hyps.integer(i);
      int diagonal = row[0];
      row[0] = i - a.from.begin(s) + 1;
      LAMINA_CUDA_KEEP_LOOP
      for (int j = 1; j <= m; ++j) {
        const int substituted = diagonal + (id == a.refs.integer(first + j - 1) ? 0 : 1);
        diagonal = row[j];
        const int less = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
        row[j] = less < substituted ? less : substituted;
      }
    }
    float edits = static_cast<float>(row[m]);
    if (a.normalized && m == 0) report_fault(a.fault, a.group, s);
    if (a.normalized) edits /= static_cast<float>(m);
    *a.out.row<float>(s) = edits;
  }
};

struct chunk_arguments {
  static constexpr int most_excluded = 64;
  argument_view inferred, label;
  sequence_view all;
  tag_scheme scheme;
  int types;
  int excluded_count, excluded[most_excluded];
  int* found;  // per sequence: counts of inferred, labelled, correct chunks
  int* tags;   // the inferred tags, then the label tags
  fault_word* fault;
  int group, count;
};

/// Iterates over the chunks of a tag sequence. A chunk is a run of consecutive tags of one type; a
/// tag that always begins or ends a chunk also divides such a run.
struct chunk_walk {
  const chunk_arguments& a;
  const int* tag;
  int end, last;
  int begin = 0;
  int type = 0;

  /// Goes to the next chunk whose type is not excluded. Returns false after the last chunk.
  LAMINA_FN bool next() {
    while (end < last) {
      begin = end;
      type = tag[begin] / a.scheme.tags;
      do ++end;
      while (end < last && tag[end] / a.scheme.tags == type && !is(a.scheme.ends, end - 1) &&
             !is(a.scheme.begins, end));
      if (counts()) return true;
    }
    return false;
  }

 private:
  LAMINA_FN bool is(unsigned set, int row) const {
    return (set >> (tag[row] % a.scheme.tags) & 1u) != 0;
  }
  LAMINA_FN bool counts() const {
    LAMINA_CUDA_KEEP_LOOP
    for (int i = 0; i < a.excluded_count; ++i)
      if (type == a.excluded[i]) return false;
    return type < a.types;
  }
};

struct chunk_body {
  using arguments = chunk_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& args, int s) {
    const int first = args.all.begin(s), last = args.all.end(s);
    chunk_walk a{args, args.tags, first, last};
    chunk_walk b{args, args.tags + args.inferred.rows, first, last};
    int* const found = args.found + 3 * s;
    int inferred = 0, labelled = 0, correct = 0;
    bool in_a = a.next(), in_b = b.next();
    while (in_a || in_b) {
      // Goes to the next chunk in both sequences if their chunks begin at the same row, else only
      // in the sequence whose chunk begins first.
      const bool both = in_a && in_b && a.begin == b.begin;
      const bool of_a = in_a && (!in_b || a.begin <= b.begin);
      if (both && a.end == b.end && a.type == b.type) ++correct;
      if (both || !of_a) ++labelled, in_b = b.next();
      if (of_a) ++inferred, in_a = a.next();
    }
    found[0] = inferred, found[1] = labelled, found[2] = correct;
  }
};
/// Reads the inferred tags and the labels as integers. A number that is not a valid tag becomes the
/// tag that marks rows outside of chunks.
struct tag_read_body {
  using arguments = chunk_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const int rows = a.inferred.rows;
    const argument_view& tag = i < rows ? a.inferred : a.label;
    const std::int64_t t = tag.integer(i % rows * tag.columns);
    const int most = a.types * a.scheme.tags;
    const bool is_tag = t >= 0 && t <= most;
    if (!is_tag) report_fault(a.fault, a.group, i);
    a.tags[i] = is_tag ? static_cast<int>(t) : most;
  }
};
/// One team adds up the chunk counts of all sequences and computes the scores.
struct chunk_score_lines {
  struct arguments {
    const int* found;
    argument_view score[3], number[3];
    int sequences;
    int lines, width, count;
  };
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int, const Team& team) {
    std::int64_t n[3] = {0, 0, 0};
    for (int s = team.rank(); s < a.sequences; s += team.size())
      for (int i = 0; i < 3; ++i) n[i] += a.found[3 * s + i];
    LAMINA_CUDA_UNROLL
    for (int i = 0; i < 3; ++i) n[i] = sum_of(team, n[i]);
    if (team.rank() != 0) return;
    const float precision = part(n[2], n[0]), recall = part(n[2], n[1]);
    const float f1 = n[2] == 0 ? 0 : 2 * precision * recall / (precision + recall);
    if (a.score[0]) *a.score[0].row<float>(0) = precision;
    if (a.score[1]) *a.score[1].row<float>(0) = recall;
    if (a.score[2]) *a.score[2].row<float>(0) = f1;
    LAMINA_CUDA_UNROLL
    for (int i = 0; i < 3; ++i)
      if (a.number[i]) *a.number[i].row<std::int64_t>(0) = n[i];
  }

 private:
  static LAMINA_INLINE LAMINA_FN float part(std::int64_t n, std::int64_t of) {
    return of == 0 ? 0 : static_cast<float>(n) / static_cast<float>(of);
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::edit_distance> {
  static constexpr checked_input checked{
      .slot = 1, .tell = [](const call_context& c, int s) {
        fail(c, {"expected references with rows to divide by their lengths, found none in "
                 "sequence ",
                 s});
      }};
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand hyps = c.input(0), refs = c.input(1), number = c.output(0), out = c.output(1);
    const sequence_view from = c.sequences(hyps.domain), to = c.sequences(refs.domain);
    if (to.count != from.count)
      fail(c, {"expected ", from.count, " sequences of references, found ", to.count});
    if (number) fill(b, number, from.count);
    if (out)
      b.template elements<detail::edit_distance_body>(
          {c.in(0), c.in(1), c.out(1), from, to, reinterpret_cast<int*>(c.run.scratch), c.flag(0),
           c.run.fault, c.number_of_group, from.count});
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    const operand refs = c.input(1);
    return refs.rows + c.rows_in(c.parent_of(refs.domain));
  }
};

template <>
struct call_kernel<operators::chunk_eval> {
  static constexpr checked_input checked{
      .slot = 0,
      .what = "tag",
      .count = [](const call_context& c) { return c.integer(0) * tag_scheme_of(c).tags + 1; },
      .next_slot = 1};
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand inferred = c.input(0), label = c.input(1);
    if (inferred.rows != label.rows)
      fail(c, {"expected ", label.rows, " inferred tags, found ", inferred.rows});
    detail::chunk_arguments a{};
    a.inferred = c.in(0);
    a.label = c.in(1);
    a.all = c.sequences(label.domain);
    a.scheme = tag_scheme_of(c);
    a.types = c.integer(0);
    a.excluded_count = c.list_size(2);
    constexpr int most = detail::chunk_arguments::most_excluded;
    if (a.excluded_count > most)
      fail(c, {"expected at most ", most, " excluded types, found ", a.excluded_count});
    for (int i = 0; i < a.excluded_count; ++i) a.excluded[i] = c.integer_at(2, i);
    a.found = reinterpret_cast<int*>(c.run.scratch);
    a.tags = a.found + 3 * a.all.count;
    a.fault = c.run.fault;
    a.group = c.number_of_group;
    a.count = 2 * label.rows;
    b.template elements<detail::tag_read_body>(a);
    a.count = a.all.count;
    b.template elements<detail::chunk_body>(a);
    detail::chunk_score_lines::arguments sum{};
    sum.found = a.found;
    for (int i = 0; i < 3; ++i) sum.score[i] = c.out(i), sum.number[i] = c.out(3 + i);
    sum.sequences = sum.width = a.all.count;
    sum.lines = sum.count = 1;
    b.template lines<team_lines<detail::chunk_score_lines>>(sum);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    const operand label = c.input(1);
    return 3 * static_cast<std::ptrdiff_t>(c.rows_in(c.parent_of(label.domain))) +
           2 * static_cast<std::ptrdiff_t>(label.rows);
  }
};

}}}  // namespace lamina::engine::cuda
