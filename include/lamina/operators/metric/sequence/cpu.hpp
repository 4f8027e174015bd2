// SPDX-License-Identifier: Apache-2.0
// lamina/operators/metric/sequence/cpu.hpp - the kernels of edit_distance and chunk_eval.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>

#include <lamina/engine/cpu/memory/label.hpp>
#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/metric/sequence/common.hpp>
#include <lamina/operators/metric/sequence/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

template <>
struct call_kernel<operators::edit_distance> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);

 private:
  /// Computes the edit distance of two sequences from the table of distances between their
  /// prefixes, row by row. Only one row of the table is kept.
  static int distance(const call_context& c, const operand& hyps, const sequence_rows& from,
                      const operand& refs, const sequence_rows& to, int s) {
    const int m = to.length(s);
    std::int64_t* const other = reinterpret_cast<std::int64_t*>(c.scratch());
    std::int32_t* const row = reinterpret_cast<std::int32_t*>(other + m);
    for (int j = 0; j < m; ++j) other[j] = integer_in(refs, to.begin(s) + j, 0);
    for (int j = 0; j <= m; ++j) row[j] = j;
    for (int i = 1; i <= from.length(s); ++i) {
      const std::int64_t id = integer_in(hyps, from.begin(s) + i - 1, 0);
      std::int32_t diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= m; ++j) {
        const std::int32_t substituted = diagonal + (id == other[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = (std::min)((std::min)(row[j], row[j - 1]) + 1, substituted);
      }
    }
    return row[m];
  }
};

#if LAMINA_DEFINES

namespace detail {

/// Iterates over the chunks of a tag sequence. A chunk is a run of consecutive tags of one type; a
/// tag that always begins or ends a chunk also divides such a run.
class chunk_walk {
 public:
  int begin = 0, end = 0;  // the rows [begin, end) of the chunk
  std::int64_t type = 0;

  chunk_walk(const call_context& c, const operand& tag, const tag_scheme& scheme, int first,
             int last)
      : end(first), c_(c), tag_(tag), scheme_(scheme), last_(last) {}

  /// Goes to the next chunk whose type is not excluded. Returns false after the last chunk.
  bool next() {
    while (end < last_) {
      begin = end;
      type = at(begin) / scheme_.tags;
      do ++end;
      while (end < last_ && at(end) / scheme_.tags == type && !is(scheme_.ends, end - 1) &&
             !is(scheme_.begins, end));
      if (counts()) return true;
    }
    return false;
  }

 private:
  std::int64_t at(int row) const {
    const std::int64_t tag = integer_in(tag_, row, 0), most = types() * scheme_.tags;
    if (tag < 0 || tag > most) fail_range(c_, "tag", tag, row, most + 1, tag_);
    return tag;
  }
  bool is(unsigned set, int row) const { return (set >> (at(row) % scheme_.tags) & 1u) != 0; }
  std::int64_t types() const { return c_.integer(0); }
  bool counts() const {
    for (int i = 0; i < c_.list_size(2); ++i)
      if (type == c_.integer_at(2, i)) return false;
    return type < types();
  }

  const call_context& c_;
  const operand& tag_;
  const tag_scheme& scheme_;
  int last_;
};

}  // namespace detail

#endif  // LAMINA_DEFINES

template <>
struct call_kernel<operators::chunk_eval> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);

 private:
  static float part(std::int64_t n, std::int64_t of) {
    return of == 0 ? 0 : static_cast<float>(n) / static_cast<float>(of);
  }
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::edit_distance>::run(const call_context& c) {
  const operand hyps = c.input(0), refs = c.input(1), number = c.output(0), out = c.output(1);
  const sequence_rows from = c.sequences(hyps), to = c.sequences(refs);
  if (to.count != from.count)
    fail(c, {"expected ", from.count, " sequences of references, found ", to.count});
  if (number) *number.row<std::int64_t>(0) = from.count;
  if (!out) return;
  for (int s = 0; s < from.count; ++s) {
    float edits = static_cast<float>(distance(c, hyps, from, refs, to, s));
    if (c.flag(0)) {
      if (to.length(s) == 0)
        fail(c, {"expected references with rows to divide by their lengths, found none in "
                 "sequence ",
                 s});
      edits /= static_cast<float>(to.length(s));
    }
    *out.row<float>(s) = edits;
  }
}
LAMINA_INSTANCE(void call_kernel<operators::edit_distance>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::edit_distance>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<operators::edit_distance>::scratch(const call_context& c) {
  return 3 * (static_cast<std::ptrdiff_t>(c.input(1).rows) + 1);
}
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<operators::edit_distance>::scratch<float>(const call_context&))
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<operators::edit_distance>::scratch<double>(const call_context&))

template <class Real>
void call_kernel<operators::chunk_eval>::run(const call_context& c) {
  const operand inferred = c.input(0), label = c.input(1);
  if (inferred.rows != label.rows)
    fail(c, {"expected ", label.rows, " inferred tags, found ", inferred.rows});
  const tag_scheme scheme = tag_scheme_of(c);
  const sequence_rows all = c.sequences(label);
  std::int64_t count[3] = {0, 0, 0};
  for (int s = 0; s < all.count; ++s) {
    detail::chunk_walk a(c, inferred, scheme, all.begin(s), all.end(s));
    detail::chunk_walk b(c, label, scheme, all.begin(s), all.end(s));
    bool in_a = a.next(), in_b = b.next();
    while (in_a || in_b) {
      // Goes to the next chunk in both sequences if their chunks begin at the same row, else only
      // in the sequence whose chunk begins first.
      const bool both = in_a && in_b && a.begin == b.begin;
      const bool of_a = in_a && (!in_b || a.begin <= b.begin);
      if (both && a.end == b.end && a.type == b.type) ++count[2];
      if (both || !of_a) ++count[1], in_b = b.next();
      if (of_a) ++count[0], in_a = a.next();
    }
  }
  const float precision = part(count[2], count[0]), recall = part(count[2], count[1]);
  const float scores[] = {precision, recall,
                          count[2] == 0 ? 0 : 2 * precision * recall / (precision + recall)};
  for (int i = 0; i < 3; ++i) {
    if (const operand out = c.output(i)) *out.row<float>(0) = scores[i];
    if (const operand out = c.output(3 + i)) *out.row<std::int64_t>(0) = count[i];
  }
}
LAMINA_INSTANCE(void call_kernel<operators::chunk_eval>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::chunk_eval>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
