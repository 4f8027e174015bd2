// SPDX-License-Identifier: Apache-2.0
// What a trainer that makes its own steps refuses, and what it does not send.

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "distributed/servers/small_trainer.hpp"
#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/error.hpp>
#include <lamina/core/worker_pool.hpp>
#include <lamina/distributed/servers/asynchronous_arrays.hpp>

using Catch::Contains;

TEST_CASE("trainers of shares have no checkpoint within a pass, and load once", "[threads]") {
  std::mutex mutex;
  std::vector<std::string> faults;
  test::in_ranks(3,
                 [&](test::thread_group& w) {
                   test::small_trainer mine;
                   const auto shared = w.share(mine.arrays());
                   lamina::worker_pool pool(1);
                   shared->begin({}, mine.accumulators, 1);
                   if (shared->is_server()) return shared->serve(mine.functions(), pool);
                   shared->require_samples(static_cast<std::uint64_t>(w.rank()), true);
                   try {
                     shared->collect(mine.accumulators, 1);
                   } catch (const lamina::error& e) {
                     const std::lock_guard lock(mutex);
                     faults.push_back(e.what());
                   }
                   try {
                     shared->begin({}, mine.accumulators, 1);
                   } catch (const lamina::error& e) {
                     const std::lock_guard lock(mutex);
                     faults.push_back(e.what());
                   }
                 },
                 {.parameter_servers = 1, .staleness = 1});
  REQUIRE(faults.size() == 4);
  std::sort(faults.begin(), faults.end());
  CHECK_THAT(faults[2], Contains("expected checkpoints at the ends of passes only"));
  CHECK_THAT(faults[0], Contains("expected a trainer to load its state before the first step"));
}

TEST_CASE("what no trainer changes is not sent at the end of a pass", "[threads]") {
  for (const bool changes : {false, true}) {
    const auto sent =
        test::results_in_ranks(3,
                               [&](test::thread_group& w) {
                                 test::small_trainer mine;
                                 std::vector<float> frozen(10000, 2.5f), moments(frozen.size());
                                 mine.values[2] = frozen.data();
                                 mine.accumulators[2] = moments.data();
                                 mine.floats[2] = frozen.size();
                                 const auto shared = w.share(mine.arrays());
                                 lamina::worker_pool pool(1);
                                 shared->begin({}, mine.accumulators, 1);
                                 if (shared->is_server()) {
                                   shared->serve(mine.functions(), pool);
                                   return std::size_t{0};
                                 }
                                 const std::size_t before = w.sent;
                                 if (changes) frozen[9999] = static_cast<float>(2 * w.rank());
                                 shared->gather_facts(nullptr, 0, 1, 1);  // a sample each
                                 shared->end_pass();
                                 shared->collect(mine.accumulators, 1);
                                 if (frozen[0] != 2.5f || frozen[9999] != (changes ? 1.0f : 2.5f))
                                   throw lamina::error("a wrong mean");
                                 return w.sent - before;
                               },
                               {.parameter_servers = 1, .staleness = 1});
    CHECK((sent.at(0) > 40000) == changes);
    CHECK((sent.at(1) > 40000) == changes);
  }
}
