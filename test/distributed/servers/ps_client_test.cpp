// SPDX-License-Identifier: Apache-2.0
// A trainer whose last packet cannot be sent ends all processes with the reason; servers serve one
// trainer at a time. A trainer that makes its own steps refuses some calls, and does not send what
// no trainer changes.

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "distributed/servers/small_trainer.hpp"
#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/threads/worker_pool.hpp>
#include <lamina/distributed/servers/ps_client.hpp>

TEST_CASE("a trainer without memory for its last packet ends the servers with the reason",
          "[threads]") {
  for (const int staleness : {0, 2}) {
    const auto found = test::results_in_ranks(
        2,
        [](test::thread_group& w) {
          test::small_trainer mine;
          auto shared = w.make_sync(mine.arrays());
          lamina::worker_pool pool(1);
          shared->begin({}, mine.accumulators, 1);
          if (!shared->is_server()) {
            w.has_no_memory = true;
            shared.reset();
            w.fail("the end of the training is lost");  // without effect after another failure
            return std::string("left");
          }
          try {
            shared->serve(mine.functions(), pool);
          } catch (const lamina::error& e) {
            return std::string(e.what());
          }
          return std::string("served");
        },
        {.parameter_servers = 1, .staleness = staleness});
    CHECK(found.at(0) == "left");
    CHECK(found.at(1) ==
          "rank 0: lamina: distributed: expected memory in which rank 0 tells the parameter "
          "servers the end of its training, found none: std::bad_alloc");
  }
}

TEST_CASE("a trainer that begins while servers serve another one is an error", "[threads]") {
  for (const int staleness : {0, 2}) {
    const auto found = test::errors_of(
        2,
        [](test::thread_group& w) {
          test::small_trainer mine;
          lamina::worker_pool pool(1);
          if (w.is_parameter_server())
            for (int i = 0; i < 2; ++i) {
              const auto shared = w.make_sync(mine.arrays());
              shared->begin({}, mine.accumulators, 1);
              shared->serve(mine.functions(), pool);
            }
          for (int i = 0; i < 2 && !w.is_parameter_server(); ++i) {
            const auto first = w.make_sync(mine.arrays()), second = w.make_sync(mine.arrays());
            first->begin({}, mine.accumulators, 1);  // one after the other is none
            if (i == 1) second->begin({}, mine.accumulators, 1);
          }
        },
        {.parameter_servers = 1, .staleness = staleness});
    REQUIRE(found.size() == 1);
    CHECK(found.at(0) ==
          "lamina: train: expected one trainer at a time with parameter servers, found one that "
          "begins while another exists");
  }
}

TEST_CASE("trainers of shards have no checkpoint within a pass, and load once", "[threads]") {
  std::mutex mutex;
  std::vector<std::string> faults;
  test::in_ranks(3,
                 [&](test::thread_group& w) {
                   test::small_trainer mine;
                   const auto shared = w.make_sync(mine.arrays());
                   lamina::worker_pool pool(1);
                   shared->begin({}, mine.accumulators, 1);
                   if (shared->is_server()) return shared->serve(mine.functions(), pool);
                   shared->require_samples(static_cast<std::uint64_t>(w.rank()), true);
                   try {
                     shared->gather_states(mine.accumulators, 1, 0);
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
  CHECK_THAT(faults[2], Catch::Contains("expected checkpoints at the ends of passes only"));
  CHECK_THAT(faults[0],
             Catch::Contains("expected a trainer to load its state before the first step"));
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
                                 const auto shared = w.make_sync(mine.arrays());
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
                                 shared->gather_states(mine.accumulators, 1, 0);
                                 if (frozen[0] != 2.5f || frozen[9999] != (changes ? 1.0f : 2.5f))
                                   throw lamina::error("a wrong mean");
                                 return w.sent - before;
                               },
                               {.parameter_servers = 1, .staleness = 1});
    CHECK((sent.at(0) > 40000) == changes);
    CHECK((sent.at(1) > 40000) == changes);
  }
}
