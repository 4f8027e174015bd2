// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/servers/changed_rows.hpp - records which rows each update has changed.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Lists the last updates of a table and the rows that each has changed, so that a server can send
/// a trainer only the rows that have changed since its last answer. Memory is bounded: updates
/// older than the last `capacity` count as changes of all rows.
class changed_rows {
 public:
  LAMINA_COLD changed_rows(std::size_t rows, std::size_t capacity)
      : mark_(rows), capacity_(capacity) {}

  /// Records an update; its number must be larger than all earlier ones. An empty list means all
  /// rows.
  LAMINA_COLD void note(std::int64_t number, std::vector<int> rows, bool all) {
    updates_.push_back({number, std::move(rows), all});
    if (updates_.size() <= capacity_) return;
    forgotten_ = updates_.front().number;
    updates_.pop_front();
  }
  /// Lists the rows that updates above `seen` have changed, each once. Returns false if all rows
  /// may have changed.
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

}}}  // namespace lamina::distributed
