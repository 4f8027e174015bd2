// SPDX-License-Identifier: Apache-2.0
// Gradients of rows are added up in the ranks that own the rows, as in one process.

#include <cstddef>
#include <cstring>
#include <mutex>
#include <random>
#include <vector>

#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/distributed/embedding/rows_owner.hpp>
#include <lamina/distributed/sync/rows_exchange.hpp>

namespace {

using lamina::distributed::sharded_table;

}  // namespace

TEST_CASE("gradients are added up in their owner as in one process", "[threads]") {
  constexpr int columns = 5, table_rows = 9;
  const auto part = [](int number) {
    lamina::engine::cpu::selected_rows r;
    r.begin(columns);
    std::mt19937 draw(static_cast<unsigned>(number));
    const int count = number == 2 ? 0 : 1 + static_cast<int>(draw() % 8);
    for (int i = 0; i < count; ++i) {
      float values[columns];
      for (float& v : values) v = static_cast<float>(draw() % 1000) / 7.0f;
      // Rank 3 of 6 parts has only rows of the first owner.
      r.add(static_cast<int>(draw() % (number == 3 ? 1 : table_rows)), values);
    }
    return r;
  };
  const std::vector<float> weight{0.3f, 0.0f, 0.2f, 0.1f, 0.7f, 0.6f};
  std::mutex mutex;
  for (const int ranks : {2, 3, 6})
    test::in_ranks(ranks, [&](test::thread_group& w) {
      const int local = 6 / ranks;
      std::vector<lamina::engine::cpu::selected_rows> owned, whole;
      std::vector<lamina::engine::cpu::selected_rows*> of_owned, of_whole;
      for (int t = 0; t < local; ++t) {
        owned.push_back(part(w.rank() * local + t));
        whole.push_back(part(w.rank() * local + t));
      }
      for (auto& r : owned) of_owned.push_back(&r);
      for (auto& r : whole) of_whole.push_back(&r);
      lamina::distributed::rows_exchange<float>(w).reduce(of_whole, columns, weight);
      const sharded_table table({"t", table_rows, columns, lamina::dtype::float32}, ranks);
      lamina::distributed::rows_owner<float>(w).reduce(of_owned, table, weight);
      const std::lock_guard lock(mutex);
      int next = 0;
      for (int i = 0; i < whole[0].size(); ++i) {
        const int number = whole[0].number(i);
        if (table.owner(number) != w.rank()) continue;
        REQUIRE(next < owned[0].size());
        CHECK(owned[0].number(next) == number);
        CHECK(std::memcmp(owned[0].row(next++), whole[0].row(i), columns * sizeof(float)) == 0);
      }
      CHECK(next == owned[0].size());
    });
}
