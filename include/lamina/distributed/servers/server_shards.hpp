// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/servers/server_shards.hpp - tells which parameter server holds which floats
// and which rows of tables.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <vector>

#include <lamina/core/arrays/padding.hpp>
#include <lamina/train/world.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Divides the parameters with dense gradients into one shard per server, whose sizes differ by at
/// most 64 bytes, and the tables with sparse gradients into shards with equal numbers of rows.
/// Trainers and servers compute the same shards.
class server_shards {
 public:
  /// Floats [first, end) of a parameter.
  struct range {
    int parameter;
    std::size_t first, end;
    std::size_t size() const { return end - first; }
  };
  /// Rows [first, end) of a table, each of `row_floats` floats. A table whose rows are not each
  /// contiguous in memory is not divided, and counts as one row.
  struct table_shard {
    int parameter;
    int first, end;
    std::size_t row_floats;
    bool has_rows;  // false: the table counts as one row
    std::size_t floats() const { return static_cast<std::size_t>(end - first) * row_floats; }
    range whole() const {
      const std::size_t from = static_cast<std::size_t>(first) * row_floats;
      return {parameter, from, from + floats()};
    }
  };

  LAMINA_COLD server_shards(const trained_arrays& of, int servers)
      : shards_(static_cast<std::size_t>(servers)), tables_(shards_.size()) {
    divide_tables(of);
    std::size_t all = 0, at = 0;
    for (int i = 0; i < of.count; ++i)
      if (of.gradients[i] != nullptr) all += of.floats[i] / alignment_floats;
    const std::size_t count = shards_.size();
    const auto end_of = [&](std::size_t s) { return all * (s + 1) / count; };
    std::size_t server = 0;
    for (int i = 0; i < of.count; ++i) {
      if (of.gradients[i] == nullptr) continue;
      const std::size_t lines = of.floats[i] / alignment_floats;
      for (std::size_t first = 0; first < lines;) {
        // Finds the server of this line or, for an array that must not be divided, of its middle.
        while (server + 1 < count && at + (of.whole ? lines / 2 : first) >= end_of(server))
          ++server;
        const std::size_t here = end_of(server) > at + first ? end_of(server) - at : lines;
        const std::size_t end = of.whole || server + 1 == count || here > lines ? lines : here;
        shards_[server].push_back({i, first * alignment_floats, end * alignment_floats});
        first = end;
      }
      at += lines;
    }
  }

  /// Returns the ranges of floats of a server; servers are numbered from 0.
  const std::vector<range>& of(int server) const {
    return shards_[static_cast<std::size_t>(server)];
  }
  /// Returns the shards of tables of a server.
  const std::vector<table_shard>& tables(int server) const {
    return tables_[static_cast<std::size_t>(server)];
  }
  /// Returns the number of floats of a server, without tables.
  std::size_t floats(int server) const {
    std::size_t n = 0;
    for (const range& a : of(server)) n += a.size();
    return n;
  }

 private:
  LAMINA_COLD void divide_tables(const trained_arrays& of) {
    const std::size_t count = tables_.size();
    std::size_t whole = 0;  // number of tables that are not divided
    for (int i = 0; i < of.count; ++i) {
      if (!of.has_rows[i] || of.floats[i] == 0) continue;  // rows of sharded tables have owners
      const bool has_rows = of.row_floats[i] > 0;
      const std::size_t wide = has_rows ? static_cast<std::size_t>(of.row_floats[i]) : of.floats[i];
      const std::size_t rows = of.floats[i] / wide;
      if (of.whole || !has_rows) {
        tables_[whole++ % count].push_back({i, 0, static_cast<int>(rows), wide, has_rows});
        continue;
      }
      for (std::size_t s = 0; s < count; ++s) {
        const int first = static_cast<int>(rows * s / count),
                  end = static_cast<int>(rows * (s + 1) / count);
        if (end > first) tables_[s].push_back({i, first, end, wide, true});
      }
    }
  }

  std::vector<std::vector<range>> shards_;
  std::vector<std::vector<table_shard>> tables_;
};

}}}  // namespace lamina::distributed
