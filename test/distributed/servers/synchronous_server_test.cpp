// SPDX-License-Identifier: Apache-2.0
// Servers sum the gradients of all trainers with their weights and update once in a step.

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/error.hpp>
#include <lamina/core/worker_pool.hpp>
#include <lamina/distributed/servers/synchronous_server.hpp>

namespace {

/// A parameter from which an update subtracts the gradient times the first scalar; its accumulator
/// counts updates.
struct small_trainer {
  lamina::engine::aligned_buffer memory{3 * 64};
  float* gradient = memory.data();
  float* value = gradient + 64;
  float* moment = value + 64;
  std::size_t floats = 64;
  bool has_rows = false;
  int wide = 0;
  float rate = 0;
  std::int64_t steps = 0;

  lamina::trained_arrays arrays() {
    return {&gradient, &value, &floats, &has_rows, 1, false, false, nullptr, 1, &wide};
  }
  lamina::server_functions functions() {
    return {this,
            [](void* self, int, std::size_t first, std::size_t count, float* g) {
              small_trainer& t = *static_cast<small_trainer*>(self);
              for (std::size_t k = 0; k < count; ++k) {
                t.value[first + k] -= t.rate * g[k];
                t.moment[first + k] += 1;
              }
            },
            nullptr,
            [](void* self, const lamina::update_facts& told) {
              small_trainer& t = *static_cast<small_trainer*>(self);
              if (told.scalars != nullptr) t.rate = told.scalars[0];
              return t.steps++;
            }};
  }
};

}  // namespace

TEST_CASE("a step is the weighted sum over the trainers, updated once", "[threads]") {
  std::atomic<int> wrong{0};
  test::in_ranks(5,
                 [&](test::thread_group& w) {
                   small_trainer mine;
                   const auto shared = w.share(mine.arrays());
                   lamina::worker_pool pool(1);
                   if (w.rank() == 0) mine.value[63] = 100;
                   shared->begin({}, &mine.moment, 1);
                   if (shared->is_server()) {
                     shared->serve(mine.functions(), pool);
                     if (mine.steps != 4 || mine.value[63] != 100 - 3 * 0.5f * 2) ++wrong;
                     return;
                   }
                   // The last trainer has no samples, and NaN where its gradients were.
                   const float weight[] = {0.5f, 0.5f, 0};
                   for (int k = 0; k < 64; ++k)
                     mine.gradient[k] = w.rank() == 2
                                            ? std::nanf("")
                                            : static_cast<float>(k == 63 ? 1 + 2 * w.rank() : 0);
                   const lamina::part_weights weights{weight, sizeof(float), 3, 1};
                   const float scalar = 0.5f;
                   for (int step = 0; step < 3; ++step) {
                     shared->reduce(weights, pool);
                     shared->note({&scalar, 1, 1, nullptr});
                     shared->update(nullptr, nullptr, pool);
                     if (mine.value[63] != 100 - static_cast<float>(step + 1) || mine.value[0] != 0)
                       ++wrong;
                   }
                   shared->collect(&mine.moment, 1);
                   if (mine.moment[0] != 3 || mine.moment[63] != 3) ++wrong;
                   // Only the sums, as a clip by norm needs them.
                   shared->reduce(weights, pool);
                   shared->bring_totals();
                   if (mine.gradient[63] != 2 || mine.gradient[0] != 0) ++wrong;
                 },
                 {.parameter_servers = 2});
  CHECK(wrong == 0);
}

TEST_CASE("a trainer that ends before the others is an error of the server", "[threads]") {
  std::mutex mutex;
  std::vector<std::string> faults;
  test::in_ranks(3,
                 [&](test::thread_group& w) {
                   small_trainer mine;
                   auto shared = w.share(mine.arrays());
                   lamina::worker_pool pool(1);
                   shared->begin({}, &mine.moment, 1);
                   if (shared->is_server()) {
                     try {
                       shared->serve(mine.functions(), pool);
                     } catch (const lamina::error& e) {
                       const std::lock_guard lock(mutex);
                       faults.push_back(e.what());
                     }
                     // As the failure would: the waiting trainer gets an answer.
                     const auto answer = lamina::distributed::new_packet({.floats = 64});
                     w.post(0, answer);
                     return;
                   }
                   if (w.rank() == 1) return;
                   const float weight[] = {1, 0};
                   shared->reduce({weight, sizeof(float), 2, 1}, pool);
                   shared->note({nullptr, 0, 1, nullptr});
                   shared->update(nullptr, nullptr, pool);
                 },
                 {.parameter_servers = 1});
  REQUIRE(faults.size() == 1);
  CHECK(faults[0] ==
        "lamina: train: expected the same steps in each trainer, found that rank 1 has ended its "
        "training before others");
}
