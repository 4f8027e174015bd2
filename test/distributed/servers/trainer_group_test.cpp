// SPDX-License-Identifier: Apache-2.0
// Trainers collect from each other, without the parameter servers.

#include <atomic>
#include <cstdint>

#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/distributed/servers/trainer_group.hpp>

using lamina::distributed::trainer_group;

TEST_CASE("trainers are a group of their own", "[threads]") {
  std::atomic<int> wrong{0};
  test::in_ranks(5,
                 [&](test::thread_group& w) {
                   if (w.is_parameter_server()) return;
                   trainer_group trainers = trainer_group::trainers_of(w);
                   if (trainers.size() != 3 || trainers.rank() != w.rank()) ++wrong;
                   int all[3] = {};
                   for (int round = 0; round < 20; ++round) {
                     const int mine = 10 * round + w.rank();
                     trainers.gather(&mine, sizeof mine, all);
                     for (int r = 0; r < 3; ++r)
                       if (all[r] != 10 * round + r) ++wrong;
                   }
                   if (w.all_reduce_sum(std::int64_t{1} + w.rank()) != 6) ++wrong;
                   trainer_group alone = trainer_group::alone(w);
                   const int mine = w.rank();
                   alone.gather(&mine, sizeof mine, all);
                   if (alone.size() != 1 || alone.rank() != 0 || all[0] != mine) ++wrong;
                 },
                 {.parameter_servers = 2});
  CHECK(wrong == 0);
}
