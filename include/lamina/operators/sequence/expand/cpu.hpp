// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/expand/cpu.hpp - sequence_expand and sequence_expand_as, which repeat
// rows and sequences.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/sequence/expand/definition.hpp>
#if LAMINA_DEFINES
#include <algorithm>

#include <lamina/engine/cpu/memory/row_parts.hpp>
#include <lamina/operators/sequence/cpu.hpp>
#include <lamina/operators/sequence/pool/cpu.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

#if LAMINA_DEFINES

namespace detail {

/// Copies row s of x to each row of sequence s in out.
inline void repeat_rows(const call_context& c, const operand& x, const operand& out,
                        const sequence_rows& all) {
  if (x.rows != all.count)
    fail(c, {"expected one row for each of ", all.count, " sequences, found ", x.rows});
  for (int s = 0; s < all.count; ++s)
    for (int r = all.begin(s); r < all.end(s); ++r) copy_row(x, s, out, r);
}

/// The gradient of repeat_rows: row s of dx is the sum of the rows of d that belong to sequence s.
template <class Real>
inline void add_repeated(const operand& d, const operand& dx, const sequence_rows& all) {
  for (int s = 0; s < all.count; ++s) {
    if (all.length(s) == 0)
      std::fill_n(dx.row<Real>(s), dx.columns, Real(0));
    else
      pool_sum(d.row<const Real>(all.begin(s)), d.stride, all.length(s), dx.columns, Real(1),
               dx.row<Real>(s));
  }
}

/// Whether sequence_expand repeats single rows of X; otherwise it repeats whole sequences. It
/// repeats rows if X has as many LoD levels as Y has above level ref_level, and sequences if X has
/// one level more. The domains of X and Out do not tell the two cases apart, because in both cases
/// the domain of X may be the parent of the domain of Out.
inline bool repeats_rows(const call_context& c) {
  const int level = c.integer(0);
  const int known = level < 0 ? levels_of(c, c.input(1).domain) + level : level;
  return levels_of(c, c.input(0).domain) == known;
}

}  // namespace detail

#endif  // LAMINA_DEFINES

template <>
struct call_kernel<operators::sequence_expand> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::sequence_expand>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::sequence_expand_as> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::sequence_expand_as>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::sequence_expand>::run(const call_context& c) {
  const int x = c.input(0).domain, out = c.output(0).domain;
  if (detail::repeats_rows(c)) {
    detail::repeat_rows(c, c.input(0), c.output(0), c.sequences(out));
    return;
  }
  const int copies = c.parent_of(out);
  int item = 0;
  make_sequences(c, out, c.rows_in(copies), [&](int copy) {
    while (copy >= c.sequences(copies).end(item)) ++item;
    return c.sequences(x).length(item);
  });
  const operand from = c.input(0), to = c.output(0);
  for_each_copy(c, x, out,
                [&](int first, int rows, int at) { copy_block(from, first, to, at, rows); });
}
LAMINA_INSTANCE(void call_kernel<operators::sequence_expand>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::sequence_expand>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::sequence_expand>>::run(const call_context& c) {
  const operand d = c.input(2), dx = c.output(0);
  require_real<Real>(c, d);
  if (!dx) return;
  if (detail::repeats_rows(c)) return detail::add_repeated<Real>(d, dx, c.sequences(d));
  clear(dx);
  for_each_copy(c, dx.domain, d.domain, [&](int first, int rows, int at) {
    for (int r = 0; r < rows; ++r) {
      const Real* const from = d.row<const Real>(at + r);
      Real* const to = dx.row<Real>(first + r);
      for (int j = 0; j < d.columns; ++j) to[j] += from[j];
    }
  });
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::sequence_expand>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::sequence_expand>>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::sequence_expand_as>::run(const call_context& c) {
  const operand out = c.output(0);
  detail::repeat_rows(c, c.input(0), out, c.sequences(out));
}
LAMINA_INSTANCE(void call_kernel<operators::sequence_expand_as>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::sequence_expand_as>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::sequence_expand_as>>::run(const call_context& c) {
  const operand d = c.input(2), dx = c.output(0);
  require_real<Real>(c, d);
  if (dx) detail::add_repeated<Real>(d, dx, c.sequences(d));
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::sequence_expand_as>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::sequence_expand_as>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
