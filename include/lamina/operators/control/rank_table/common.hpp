// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/rank_table/common.hpp - the sequences of a rank table, on the host of
// any engine.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>

#include <lamina/engine/common/argument_info.hpp>

namespace lamina::inline LAMINA_ABI::engine {

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

}  // namespace lamina::inline LAMINA_ABI::engine
