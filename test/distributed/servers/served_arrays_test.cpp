// SPDX-License-Identifier: Apache-2.0
// A trainer whose last packet cannot be sent ends all processes with the reason; servers serve one
// trainer at a time.

#include <map>
#include <string>

#include "distributed/servers/small_trainer.hpp"
#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/error.hpp>
#include <lamina/core/worker_pool.hpp>

TEST_CASE("a trainer without memory for its last packet ends the servers with the reason",
          "[threads]") {
  for (const int staleness : {0, 2}) {
    const auto found = test::results_in_ranks(
        2,
        [](test::thread_group& w) {
          test::small_trainer mine;
          auto shared = w.share(mine.arrays());
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
              const auto shared = w.share(mine.arrays());
              shared->begin({}, mine.accumulators, 1);
              shared->serve(mine.functions(), pool);
            }
          for (int i = 0; i < 2 && !w.is_parameter_server(); ++i) {
            const auto first = w.share(mine.arrays()), second = w.share(mine.arrays());
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
