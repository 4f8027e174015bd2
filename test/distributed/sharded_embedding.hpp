// SPDX-License-Identifier: Apache-2.0
// test/distributed/sharded_embedding.hpp - two tables with known elements, for ranks that divide
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <lamina/distributed/embedding/peer_embedding.hpp>
#include <lamina/distributed/embedding/sharded_table.hpp>

namespace test {

/// The value of the element at a row and column of a table.
inline float value(int table, int row, int column) {
  return static_cast<float>(1000 * row + 10 * column + table);
}
inline std::vector<float> row_of(const lamina::distributed::peer_embedding& tables, int t,
                                 int row) {
  const lamina::embedding_table& of = tables.tables()[static_cast<std::size_t>(t)];
  std::vector<float> found(static_cast<std::size_t>(of.columns));
  lamina::distributed::sharded_table(of, tables.ranks())
      .copy_out(reinterpret_cast<const std::byte*>(tables.memory(t)), row,
                reinterpret_cast<std::byte*>(found.data()));
  return found;
}
inline bool has_row(const lamina::distributed::peer_embedding& tables, int t, int row) {
  const std::vector<float> found = row_of(tables, t, row);
  for (std::size_t c = 0; c < found.size(); ++c)
    if (found[c] != value(t, row, static_cast<int>(c))) return false;
  return true;
}
inline void fill(lamina::distributed::peer_embedding& tables) {
  for (int t = 0; t < static_cast<int>(tables.tables().size()); ++t)
    for (int r = tables.first(t); r < tables.end(t); ++r) {
      std::vector<float> row;
      for (int c = 0; c < tables.tables()[static_cast<std::size_t>(t)].columns; ++c)
        row.push_back(value(t, r, c));
      tables.import_rows(t, r, 1, row.data());
    }
}
inline std::vector<lamina::embedding_table> two_tables() {
  return {{"words", 101, 70, lamina::dtype::float32}, {"users", 3, 1, lamina::dtype::float32}};
}
inline lamina::looked_up_ids look_up(int table, const std::vector<std::int64_t>& ids,
                                     std::int64_t padding = -1) {
  return {table, ids.data(), ids.size(), padding};
}

}  // namespace test
