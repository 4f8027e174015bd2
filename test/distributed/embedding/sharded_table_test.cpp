// SPDX-License-Identifier: Apache-2.0
// Which rank owns a row, and where the row lies in memory.

#include <cstddef>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/distributed/embedding/sharded_table.hpp>

namespace {

using lamina::dtype;
using lamina::distributed::sharded_table;

}  // namespace

TEST_CASE("each row has one owner, and no owner has more than its shard") {
  for (const int rows : {1, 2, 7, 64, 1000003})
    for (const int ranks : {1, 2, 3, 5, 8}) {
      const sharded_table table({"t", rows, 4, dtype::float32}, ranks);
      CHECK(table.first(0) == 0);
      CHECK(table.end(ranks - 1) == rows);
      bool owned = true, fair = true;
      for (int r = 0; r < ranks; ++r) {
        fair = fair && table.end(r) - table.first(r) <= rows / ranks + 1;
        for (int row = table.first(r); row < table.end(r); row += rows / 50 + 1)
          owned = owned && table.owner(row) == r;
        if (table.first(r) < table.end(r)) owned = owned && table.owner(table.end(r) - 1) == r;
      }
      CHECK(owned);
      CHECK(fair);
    }
}

TEST_CASE("a row lies in one place by panel, and comes back as it was") {
  for (const dtype type : {dtype::float32, dtype::float64}) {
    const sharded_table table({"t", 5, 37, type}, 2);
    CHECK(table.row_bytes() == 37u * static_cast<std::size_t>(lamina::size_of(type)));
    std::vector<std::byte> memory(table.memory_bytes()), row(table.row_bytes()), found(row.size());
    for (std::size_t k = 0; k < row.size(); ++k) row[k] = static_cast<std::byte>(k % 251 + 1);
    table.copy_in(row.data(), 3, memory.data());
    std::size_t written = 0;
    for (const std::byte b : memory) written += b != std::byte{0} ? 1u : 0u;
    CHECK(written == row.size());
    table.copy_out(memory.data(), 3, found.data());
    CHECK(found == row);
    table.copy_out(memory.data(), 2, found.data());
    CHECK(found == std::vector<std::byte>(row.size()));
  }
}
