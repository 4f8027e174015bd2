// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/servers/changed_rows.hpp - which rows of a table have changed since when.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace lamina::inline LAMINA_ABI::distributed {

/// A list of the last updates of a table and the rows that each has changed, from which a server
/// knows what a trainer has not seen yet. Memory is limited: what is older than `capacity` updates
/// counts as a change of all rows.
class changed_rows {
 public:
  LAMINA_COLD changed_rows(std::size_t rows, std::size_t capacity)
      : mark_(rows), capacity_(capacity) {}

  /// Notes an update with a number that is larger than those before. An empty list: all rows.
  LAMINA_COLD void note(std::int64_t number, std::vector<int> rows, bool all) {
    updates_.push_back({number, std::move(rows), all});
    if (updates_.size() <= capacity_) return;
    forgotten_ = updates_.front().number;
    updates_.pop_front();
  }
  /// Lists the rows that updates above `seen` have changed, each once. Returns false for all rows.
  LAMINA_COLD bool since(std::int64_t seen, std::vector<int>& rows) {
    rows.clear();
    if (forgotten_ > seen) return false;
    ++marks_;
    for (const update& u : updates_) {
      if (u.number <= seen) continue;
      if (u.all) return false;
      for (const int row : u.rows)
        if (std::exchange(mark_[static_cast<std::size_t>(row)], marks_) != marks_)
          rows.push_back(row);
    }
    return rows.size() < mark_.size();
  }

 private:
  struct update {
    std::int64_t number;
    std::vector<int> rows;
    bool all;
  };
  std::deque<update> updates_;
  std::int64_t forgotten_ = -1;     // the number of the last update that is not in the list
  std::vector<std::int64_t> mark_;  // by row: the last call of since() that listed it
  std::int64_t marks_ = 0;
  std::size_t capacity_;
};

}  // namespace lamina::inline LAMINA_ABI::distributed
