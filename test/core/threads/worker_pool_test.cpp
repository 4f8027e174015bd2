// SPDX-License-Identifier: Apache-2.0
// worker_pool runs each task once per round and hands exceptions on.
#include <stdexcept>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/threads/worker_pool.hpp>

TEST_CASE("a pool runs each task once per round, on one thread and on several", "[threads]") {
  for (const int tasks : {1, 2, 4}) {
    lamina::worker_pool pool(tasks);
    CHECK(pool.size() == tasks);
    std::vector<int> runs(static_cast<std::size_t>(tasks));
    for (int round = 1; round <= 50; ++round) {
      pool.run([&](int i) { ++runs[static_cast<std::size_t>(i)]; });
      for (const int r : runs) REQUIRE(r == round);
    }
  }
}

TEST_CASE("an exception of any task reaches the caller, and the pool goes on", "[threads]") {
  lamina::worker_pool pool(3);
  for (const int failing : {0, 1, 2}) {
    CHECK_THROWS_AS(pool.run([&](int i) {
      if (i == failing) throw std::runtime_error("task");
    }),
                    std::runtime_error);
    std::vector<int> runs(3);
    pool.run([&](int i) { runs[static_cast<std::size_t>(i)] = i + 1; });
    CHECK(runs == std::vector<int>{1, 2, 3});
  }
}
