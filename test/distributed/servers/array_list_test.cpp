// SPDX-License-Identifier: Apache-2.0
// The pointers of a trainer are kept, and its tables are listed.

#include <cstddef>
#include <mutex>
#include <vector>

#include "distributed/sharded_embedding.hpp"
#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/distributed/servers/array_list.hpp>

TEST_CASE("pointers outlive the arrays that held them") {
  float number = 0;
  std::vector<int> rows, with_rows;
  std::size_t count = 0;
  {
    float* gradients[] = {&number, nullptr, nullptr, nullptr};
    float* values[] = {&number, &number, &number, &number};
    const std::size_t floats[] = {16, 32, 48, 16};
    const bool has_rows[] = {false, true, false, false};
    const int wide[] = {0, 16, -1, 0};
    const lamina::distributed::array_list kept(
        {gradients, values, floats, has_rows, 4, true, false, nullptr, 1, wide});
    values[3] = nullptr;
    CHECK(kept.values[3] == &number);
    CHECK(kept.gradients[0] == &number);
    CHECK(kept.whole);
    rows = kept.rows, with_rows = kept.with_rows, count = kept.count();
  }
  CHECK(rows == std::vector<int>{1});
  CHECK(with_rows == std::vector<int>{1, 2});
  CHECK(count == 4);
}

TEST_CASE("the trainer does not hold a sharded table, and tells its arrays to the servers",
          "[threads]") {
  std::mutex mutex;
  test::in_ranks(
      2,
      [&](test::thread_group& w) {
        lamina::distributed::ps_embedding tables(w, test::two_tables(), 0);
        float number = 0;
        float* gradients[] = {&number, nullptr, nullptr, nullptr};
        float* values[] = {&number, tables.memory(1), &number, tables.memory(0)};
        const std::size_t floats[] = {16, 0, 48, 0};
        const bool has_rows[] = {false, true, true, false};
        const int wide[] = {0, 0, 16, 0}, table_of[] = {-1, 1, -1, 0};
        const lamina::distributed::array_list kept({gradients, values, floats, has_rows, 4, false,
                                                    false, nullptr, 1, wide, &tables, table_of});
        const std::lock_guard lock(mutex);
        CHECK(kept.rows == std::vector<int>{2});
        CHECK(kept.with_rows == std::vector<int>{2});
        float* accumulators[] = {&number, &number, &number, &number};
        kept.open_tables(accumulators, 1);
        // In a training a server saves nothing by itself, and a trainer asks nobody for no rows.
        if (w.is_parameter_server())
          tables.write("nowhere", {}, {});
        else
          tables.fetch(nullptr, 0, lamina::sharded_embedding::purpose::training);
        kept.close_tables();
      },
      {.parameter_servers = 1});
}

TEST_CASE("tables of a session without servers do not fit one with servers", "[threads]") {
  test::in_ranks(1, [](test::thread_group& w) {
    lamina::distributed::peer_embedding tables(w, test::two_tables(), 0);
    const int table_of[] = {0};
    lamina::trained_arrays of{nullptr, nullptr, nullptr, nullptr, 0, false, false};
    of.tables = &tables;
    of.table_of = table_of;
    CHECK_THROWS_WITH(lamina::distributed::array_list(of),
                      Catch::Contains("found one for a session without"));
  });
}
