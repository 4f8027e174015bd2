// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/dynamic_rows.hpp - host functions, for all engines, that set the rows and
// sequences of domains made by operators while a program runs.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>

#include <lamina/engine/common/call_error.hpp>
#include <lamina/engine/common/domain_rows.hpp>
#include <lamina/engine/common/operator_call.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// Whether the program passes a variable for this operand. The address alone does not tell: a
/// variable whose rows do not exist yet has no address, but it has a domain.
inline bool is_given(const operand& o) { return o.domain != 0 || o.data != nullptr; }

// In the functions below, the type Call is the host's view of an operator call. It has the members
// of operator_call and three functions of a domain: sequences(), make_offsets() and set_rows().

/// The number of levels of nested sequences that the rows of a domain form.
inline int levels_of(const operator_call& c, int domain) {
  int n = 0;
  for (; c.kind_of(domain) == domain_kind::sequence; domain = c.parent_of(domain)) ++n;
  return n;
}
/// The domain that is `levels` levels above `domain`.
inline int domain_above(const operator_call& c, int domain, int levels) {
  for (; levels > 0; --levels) domain = c.parent_of(domain);
  return domain;
}
/// The number of sequence levels between the rows of a mask and the rows of a domain below the
/// mask's domain. The mask has `level` levels of sequences.
inline int levels_below_mask(const operator_call& c, int domain, int level) {
  const int levels = levels_of(c, domain) - level;
  return levels > 0 ? levels : 0;
}
/// The number of sequence levels between the rows of a domain `table` and the rows of `domain`; 0
/// if `domain` is not below `table`.
inline int levels_below(const operator_call& c, int domain, int table) {
  int levels = 0;
  for (int d = domain; d != table; d = c.parent_of(d), ++levels)
    if (c.kind_of(d) != domain_kind::sequence) return 0;
  return levels;
}
/// Converts a row index between levels. `row` is the index of a row `from` levels above `domain`;
/// the result is the index of the first row below it that is `to` levels above `domain`.
template <class Call>
int first_below(const Call& c, int domain, int from, int to, int row) {
  while (from-- > to) row = c.sequences(domain_above(c, domain, from)).begin(row);
  return row;
}

/// Sets the rows and sequences of a domain: there are `n` sequences, one per parent row, and
/// sequence i gets `length(i)` rows. Returns the total number of rows.
template <class Call, class Length>
int make_sequences(const Call& c, int domain, int n, Length&& length) {
  int* const offsets = c.make_offsets(domain, n);
  int at = offsets[0] = 0;
  for (int i = 0; i < n; ++i) offsets[i + 1] = at += length(i);
  c.set_rows(domain, at);
  return at;
}

/// Gives domain `to` the sequences of domain `from`, on all levels below the lowest ancestor of
/// both domains.
template <class Call>
void hand_over_sequences(const Call& c, int from, int to) {
  int levels = 0;
  while (domain_above(c, from, levels) != domain_above(c, to, levels)) ++levels;
  for (int l = levels; l-- > 0;) {
    const sequence_rows all = c.sequences(domain_above(c, from, l));
    make_sequences(c, domain_above(c, to, l), all.count, [&](int i) { return all.length(i); });
  }
}

/// Sets a domain's number of rows to `rows` and its sequences to the offsets `numbers`. Without
/// `append`, also sets the number of parent rows to the number of sequences. With `append`, the
/// parent already has `rows` rows, and there must be one sequence for each. Throws lamina::error
/// for offsets that do not fit.
template <class Call, class Numbers>
void made_offsets(const Call& c, int domain, int rows, bool append, const Numbers& numbers) {
  const int count = static_cast<int>(numbers.size()), n = count > 0 ? count - 1 : 0;
  if (!append)
    c.set_rows(c.parent_of(domain), n);
  else if (count != rows + 1)
    fail(c, {"expected one sequence for each of ", rows, " rows, found ", count, " offsets"});
  int* const to = c.make_offsets(domain, n);
  for (int i = 0; i <= n; ++i) {
    const std::int64_t at = count > 0 ? numbers[static_cast<std::size_t>(i)] : -1;
    const int least = i == 0 ? 0 : to[i - 1];
    if (at < least || at > rows || (i == 0 && at != 0) || (i == n && at != rows))
      fail(c, {"expected offsets that begin with 0, never descend and end with ", rows, ", found ",
               at, " at position ", i});
    to[i] = static_cast<int>(at);
  }
  c.set_rows(domain, rows);
}

/// Sets the rows and sequences of an output (domain `to`) that consists of selected parts of an
/// input (domain `from`). A part is one row `levels` levels above the rows of the input, with all
/// rows below that row. `each(f)` must call f(part) for every selected part, in the order of the
/// output.
template <class Call, class Each>
void make_parts(const Call& c, int from, int to, int levels, const Each& each) {
  int n = 0;
  each([&](int) { ++n; });
  c.set_rows(domain_above(c, to, levels), n);
  for (int l = levels; l-- > 0;) {
    const int made = domain_above(c, to, l);
    int* const offsets = c.make_offsets(made, n);
    const sequence_rows all = c.sequences(domain_above(c, from, l));
    int s = 0, rows = offsets[0] = 0;
    each([&](int part) {
      const int end = first_below(c, from, levels, l + 1, part + 1);
      for (int i = first_below(c, from, levels, l + 1, part); i < end; ++i)
        offsets[++s] = rows += all.length(i);
    });
    c.set_rows(made, n = rows);
  }
}

/// Sets the rows, and the sequences on all levels, of an output that merges two inputs by a mask of
/// `n` entries. sides[0] is the domain of the input for entries that are false, sides[1] for
/// entries that are true; -1 means that the input is omitted. mask() returns the address of the
/// entries. It is called again for each level, because make_offsets() may move the array of
/// entries.
template <class Call, class Mask>
void make_merged_rows(const Call& c, int to, const int (&sides)[2], int levels, int n,
                      const Mask& mask) {
  const int entries = n;
  c.set_rows(domain_above(c, to, levels), n);
  for (int l = levels; l-- > 0;) {
    const int made = domain_above(c, to, l);
    int* const offsets = c.make_offsets(made, n);
    const auto chosen = mask();
    int next[2] = {0, 0}, s = 0, rows = offsets[0] = 0;
    for (int i = 0; i < entries; ++i) {
      const int side = chosen[i] ? 1 : 0;
      if (sides[side] < 0) {
        // Entries of an omitted input get no rows.
        const int begin = first_below(c, to, levels, l + 1, i);
        const int end = first_below(c, to, levels, l + 1, i + 1);
        for (int k = begin; k < end; ++k) offsets[++s] = rows;
        continue;
      }
      const int from = sides[side], part = next[side]++;
      const sequence_rows all = c.sequences(domain_above(c, from, l));
      const int end = first_below(c, from, levels, l + 1, part + 1);
      for (int k = first_below(c, from, levels, l + 1, part); k < end; ++k)
        offsets[++s] = rows += all.length(k);
    }
    c.set_rows(made, n = rows);
  }
}

/// For operators that concatenate sequences: sequence s of the result consists of sequence s of
/// each variable of slot 0, in order. Calls f(input, first row, rows, first row of the result) for
/// each of these sequences.
template <class Call, class F>
void for_each_concatenated(const Call& c, F&& f) {
  const int inputs = c.input_count(0);
  int at = 0;
  for (int s = 0; s < c.sequences(c.input(0).domain).count; ++s)
    for (int i = 0; i < inputs; ++i) {
      const sequence_rows all = c.sequences(c.input(0, i).domain);
      f(i, all.begin(s), all.length(s), at);
      at += all.length(s);
    }
}

/// Calls f(first row in X, rows, first row in Out) for each copy of a sequence of X that
/// sequence_expand writes to Out.
template <class Call, class F>
void for_each_copy(const Call& c, int x, int out, F&& f) {
  const sequence_rows all = c.sequences(x), copies = c.sequences(c.parent_of(out));
  int at = 0;
  for (int i = 0; i < copies.count; ++i)
    for (int k = 0; k < copies.length(i); ++k, at += all.length(i))
      f(all.begin(i), all.length(i), at);
}

}}}  // namespace lamina::engine
