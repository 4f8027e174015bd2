// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/rank_table/common.hpp - the sequences of a rank table, on the host of
// any engine.
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
  /// The index of the sequence with a given rank.
  int index(int rank) const { return static_cast<int>(table_.row<const std::int64_t>(rank)[0]); }
  int length(int rank) const { return static_cast<int>(table_.row<const std::int64_t>(rank)[1]); }
  int steps() const { return count() == 0 ? 0 : length(0); }
  /// The number of sequences that are longer than t.
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
  /// The domain with one row per sequence.
  int domain() const { return table_.domain; }

 private:
  operand table_;
};

/// The time steps of nested sequences: step t has the t-th sub-sequence of each sequence of a table
/// that is longer than t. engine/common/dynamic_rows.hpp describes the type Call.
template <class Call>
class nested_steps {
 public:
  nested_steps(const Call& c, int domain, const rank_table& table)
      : c_(c),
        domain_(domain),
        table_(table),
        levels_(levels_below(c, domain, table.domain()) - 1) {}

  /// The number of sequence levels within a sub-sequence; 0 if the steps consist of rows.
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
  /// Stores the offsets of the sub-sequences of step t in the slot of an array.
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
  /// Returns the index of the first descendant of sub-sequence t (or of the next sub-sequence) of
  /// the sequence of rank r. The index counts items `to` levels above the rows.
  int row(int t, int r, int to, int next = 0) const {
    const int begin = c_.sequences(domain_above(c_, domain_, levels_)).begin(table_.index(r));
    return first_below(c_, domain_, levels_, to, begin + t + next);
  }
  /// The number of descendants `to` levels above the rows.
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

/// The domain whose sequences a rank table of level `level` ranks.
inline int ranked_domain(const operator_call& c, int domain, int level) {
  return domain_above(c, domain, levels_of(c, domain) - 1 - level);
}

/// Fills a rank table of `count` sequences of `length(i)` rows each.
template <class Length>
void rank_sequences(const operand& table, int count, const Length& length) {
  // Sorts one number per sequence, which combines its length and index, at the beginning of the
  // table. Then expands these numbers to table rows, last one first.
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
