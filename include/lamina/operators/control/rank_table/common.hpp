// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/rank_table/common.hpp - rank tables in host memory: all engines read and
// fill them with these functions.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>

#include <lamina/engine/common/argument_info.hpp>
#include <lamina/engine/common/dynamic_rows.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// Read access to a rank table (operators/control/rank_table/definition.hpp): the index and the
/// length of each sequence, longest first.
class rank_table {
 public:
  explicit rank_table(const operand& table) : table_(table) {}

  int count() const { return table_.rows; }
  /// The index, in the batch, of the sequence with rank `rank`.
  int index(int rank) const { return static_cast<int>(table_.row<const std::int64_t>(rank)[0]); }
  int length(int rank) const { return static_cast<int>(table_.row<const std::int64_t>(rank)[1]); }
  int steps() const { return count() == 0 ? 0 : length(0); }
  /// The number of sequences that are longer than t: those that have a step t.
  int alive(int t) const {
    int first = 0, end = count();
    while (first < end) {
      const int middle = (first + end) / 2;
      if (length(middle) > t)
        first = middle + 1;
      else
        end = middle;
    }
    return first;
  }
  /// The domain that has one row per ranked sequence.
  int domain() const { return table_.domain; }

 private:
  operand table_;
};

/// The time steps of nested sequences. Step t consists of the t-th sub-sequence of each sequence
/// that has more than t sub-sequences, in the order of the rank table. `Call` gives access to the
/// rows of domains (engine/common/dynamic_rows.hpp).
template <class Call>
class nested_steps {
 public:
  nested_steps(const Call& c, int domain, const rank_table& table)
      : c_(c),
        domain_(domain),
        table_(table),
        levels_(levels_below(c, domain, table.domain()) - 1) {}

  /// The number of LoD levels from the sub-sequences down; 0 if a step consists of single rows
  /// instead of sub-sequences.
  int levels() const { return levels_; }
  /// Calls f(first row, number of rows) for each sub-sequence of step t.
  template <class F>
  void each(int t, F&& f) const {
    for (int r = 0; r < table_.alive(t); ++r) {
      const int first = row(t, r, 0);
      f(first, row(t, r, 0, 1) - first);
    }
  }
  int rows(int t) const {
    int n = 0;
    each(t, [&](int, int rows) { n += rows; });
    return n;
  }
  /// Stores the offsets of the sub-sequences of step t with slot t of the array `to`.
  template <class Array>
  void write_offsets(int t, Array& to) const {
    int numbers = 0;
    for (int l = levels_; l-- > 0;) numbers += count(t, l + 1) + 2;
    int* at = to.write_offsets(t, numbers - 1);
    for (int l = levels_; l-- > 0;) {
      const sequence_rows all = c_.sequences(domain_above(c_, domain_, l));
      int rows = 0;
      *at++ = count(t, l + 1);
      *at++ = 0;
      for (int r = 0; r < table_.alive(t); ++r)
        for (int i = row(t, r, l + 1); i < row(t, r, l + 1, 1); ++i) *at++ = rows += all.length(i);
    }
  }

 private:
  /// Takes sub-sequence t + `next` of the sequence with rank r, and returns the index of its first
  /// descendant that is `to` levels above the rows; for `to` = 0 this is its first row.
  int row(int t, int r, int to, int next = 0) const {
    const int begin = c_.sequences(domain_above(c_, domain_, levels_)).begin(table_.index(r));
    return first_below(c_, domain_, levels_, to, begin + t + next);
  }
  /// The number of descendants of the sub-sequences of step t that are `to` levels above the rows.
  int count(int t, int to) const {
    int n = 0;
    for (int r = 0; r < table_.alive(t); ++r) n += row(t, r, to, 1) - row(t, r, to);
    return n;
  }

  const Call& c_;
  int domain_;
  rank_table table_;
  int levels_;
};

/// Returns the domain whose sequences are LoD level `level` of the rows of `domain`; level 0 is the
/// outermost.
inline int ranked_domain(const operator_call& c, int domain, int level) {
  return domain_above(c, domain, levels_of(c, domain) - 1 - level);
}

/// Fills a rank table of `count` sequences, where sequence i has length(i) elements.
template <class Length>
void rank_sequences(const operand& table, int count, const Length& length) {
  // First sorts one key per sequence, which combines its length and its index. The keys occupy the
  // first part of the table's memory. Then expands each key to a row of the table, the last one
  // first, so that no row overwrites a key that is still needed.
  std::int64_t* const keys = table.row<std::int64_t>(0);
  for (int s = 0; s < count; ++s) keys[s] = (std::int64_t{length(s)} << 32) + (count - 1 - s);
  std::sort(keys, keys + count, [](std::int64_t a, std::int64_t b) { return a > b; });
  for (int r = count; r-- > 0;) {
    const std::int64_t key = keys[r];
    std::int64_t* const row = table.row<std::int64_t>(r);
    row[0] = count - 1 - (key & 0xffffffff);
    row[1] = key >> 32;
  }
}

}}}  // namespace lamina::engine
