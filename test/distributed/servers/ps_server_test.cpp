// SPDX-License-Identifier: Apache-2.0
// Trainers with steps together: servers sum the gradients of all with their weights and update once
// in a step. Trainers with independent steps, delayed at random: they stay within the staleness,
// see no half of an update, and end with the parameters and accumulators of all updates.

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "distributed/servers/small_trainer.hpp"
#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/threads/worker_pool.hpp>
#include <lamina/distributed/servers/ps_server.hpp>
#include <lamina/engine/cpu/memory/selected_rows.hpp>

namespace {

using test::columns, test::dense, test::row_floats, test::rows, test::small_trainer;

struct outcome {
  std::atomic<int> too_far{0}, torn{0}, wrong{0};
  std::mutex mutex;
  std::vector<std::int64_t> most_ahead;
};

/// Trains with three trainers and two servers; trainer r makes steps[r] steps in each of two
/// passes.
void train(const std::array<int, 3>& steps, int staleness, bool shards, outcome& found) {
  constexpr int trainers = 3;
  std::atomic<int> sent[trainers] = {};
  std::atomic<bool> at_end[trainers] = {};
  std::barrier together(trainers);
  const int all = steps[0] + steps[1] + steps[2];
  test::in_ranks(
      trainers + 2,
      [&](test::thread_group& w) {
        small_trainer mine;
        const auto shared = w.make_sync(mine.arrays());
        lamina::worker_pool pool(2);
        if (w.rank() == 0) std::fill_n(mine.value, dense, 5.0f);
        shared->begin({1, 2, 3, 0, 2}, mine.accumulators, 1);
        if (shared->is_server()) {
          shared->serve(mine.functions(), pool);
          if (mine.value[0] != 5.0f + 2 * static_cast<float>(all) || mine.steps != 2 * all ||
              mine.last_factor != 0.5f)
            ++found.wrong;
          const std::lock_guard lock(found.mutex);
          found.most_ahead.push_back(
              static_cast<lamina::distributed::asynchronous_server&>(*shared).most_ahead());
          return;
        }
        const auto me = static_cast<std::size_t>(w.rank());
        std::mt19937 draw(static_cast<unsigned>(w.rank()));
        const float weight = 1;
        std::fill_n(mine.gradient, dense, 1.0f);
        lamina::engine::cpu::selected_rows gradient_rows;
        lamina::engine::cpu::selected_rows* const joined[] = {&gradient_rows};
        for (int pass = 0; pass < 2; ++pass) {
          shared->require_samples(shards ? 10u + static_cast<unsigned>(w.rank()) : 10u, shards);
          for (int t = 0; t < steps[me]; ++t) {
            for (int r = 0; r < trainers; ++r)
              if (!at_end[r] && sent[r] < t - staleness) ++found.too_far;
            // The halves of the parameter are those of the two servers.
            for (std::size_t k = 0; k < dense; ++k)
              if (mine.value[k] != mine.value[k < dense / 2 ? 0 : dense / 2]) ++found.torn;
            std::this_thread::sleep_for(
                std::chrono::microseconds(draw() % (draw() % 8 == 0 ? 2000 : 50)));
            gradient_rows.begin(columns);
            const float row[columns] = {1, 2, 3};
            gradient_rows.add((t + w.rank()) % rows, row);
            gradient_rows.add(0, row);
            const lamina::part_weights weights{&weight, sizeof weight, 1, 1};
            shared->gather_facts(nullptr, 0, 1, 1);
            shared->reduce(weights, pool);
            shared->reduce_rows(joined, columns, weights);
            ++sent[me];
            shared->update({nullptr, 0, 0.5f, nullptr}, nullptr, nullptr, pool);
          }
          at_end[me] = true;
          mine.statistic[0] = static_cast<float>(w.rank());
          mine.statistic[1] = 7.1f;
          shared->end_pass();
          double sum = w.rank() + 1;
          shared->all_reduce_sum(&sum, 1);
          const std::int64_t updates = shared->gather_states(mine.accumulators, 1, 0);
          const auto total = static_cast<float>((pass + 1) * all);
          float in_table = 0, in_moments = 0;
          for (int r = 0; r < rows; ++r) {
            in_table += mine.table[r * row_floats];
            in_moments += mine.table_moment[r * row_floats + 2];
          }
          float hits = 0;  // a row that is drawn twice in a step has one update
          for (int other = 0; other < trainers; ++other)
            for (int t = 0; t < steps[static_cast<std::size_t>(other)]; ++t)
              hits += (t + other) % rows == 0 ? 1 : 2;
          const auto mean = static_cast<float>(steps[1] + 2 * steps[2]) / static_cast<float>(all);
          if (sum != 6 || mine.value[0] != 5 + total || mine.value[dense - 1] != 5 + total ||
              mine.moment[0] != total || mine.moment[dense - 1] != total || in_table != 2 * total ||
              in_moments != static_cast<float>(pass + 1) * hits ||
              std::abs(mine.statistic[0] - mean) > 1e-6f || mine.statistic[1] != 7.1f ||
              updates != (pass + 1) * all)
            ++found.wrong;
          // All begin the next pass together: what is compared is that of one pass.
          together.arrive_and_wait();
          sent[me] = 0;
          at_end[me] = false;
          together.arrive_and_wait();
        }
      },
      {.parameter_servers = 2, .staleness = staleness});
}

}  // namespace

TEST_CASE("no trainer is further ahead than the staleness", "[threads]") {
  for (const int staleness : {1, 4}) {
    CAPTURE(staleness);
    outcome found;
    train({40, 40, 40}, staleness, false, found);
    CHECK(found.too_far == 0);
    CHECK(found.torn == 0);
    CHECK(found.wrong == 0);
    REQUIRE(found.most_ahead.size() == 2);
    for (const std::int64_t ahead : found.most_ahead) {
      CHECK(ahead <= staleness);
      CHECK(ahead > 0);
    }
  }
}

TEST_CASE("a trainer at the end of its pass does not hold up the others", "[threads]") {
  outcome found;
  train({50, 3, 17}, 2, true, found);
  CHECK(found.too_far == 0);
  CHECK(found.torn == 0);
  CHECK(found.wrong == 0);
}

TEST_CASE("trainers end after steps without passes, whatever their number", "[threads]") {
  std::atomic<int> wrong{0};
  const auto found =
      test::errors_of(4,
                      [&](test::thread_group& w) {
                        small_trainer mine;
                        const auto shared = w.make_sync(mine.arrays());
                        lamina::worker_pool pool(1);
                        shared->begin({1, 2, 3, 0, 1}, mine.accumulators, 1);
                        if (shared->is_server()) {
                          shared->serve(mine.functions(), pool);
                          // All updates are in its moments, and its parameters are the last ones of
                          // rank 0.
                          if (mine.steps != 5 + 20 + 9 || mine.moment[0] != 34 || mine.value[0] < 5)
                            ++wrong;
                          return;
                        }
                        constexpr int steps[] = {5, 20, 9};
                        const float weight = 1;
                        std::fill_n(mine.gradient, dense, 1.0f);
                        lamina::engine::cpu::selected_rows gradient_rows;
                        lamina::engine::cpu::selected_rows* const joined[] = {&gradient_rows};
                        float last = 0;
                        for (int t = 0; t < steps[w.rank()]; ++t) {
                          if (w.rank() == 1)
                            std::this_thread::sleep_for(std::chrono::milliseconds(1));
                          gradient_rows.begin(columns);
                          const lamina::part_weights weights{&weight, sizeof weight, 1, 1};
                          shared->reduce(weights, pool);
                          shared->reduce_rows(joined, columns, weights);
                          shared->update({nullptr, 0, 1, nullptr}, nullptr, nullptr, pool);
                          if (mine.value[0] < last + 1) ++wrong;  // no update is lost
                          last = mine.value[0];
                        }
                      },
                      {.parameter_servers = 1, .staleness = 2});
  CHECK(found.empty());
  CHECK(wrong == 0);
}

TEST_CASE("a trainer that waits for the end of a pass of one that has ended is an error",
          "[threads]") {
  const auto found = test::errors_of(3,
                                     [&](test::thread_group& w) {
                                       small_trainer mine;
                                       const auto shared = w.make_sync(mine.arrays());
                                       lamina::worker_pool pool(1);
                                       shared->begin({1, 2, 3, 0, 1}, mine.accumulators, 1);
                                       if (shared->is_server())
                                         return shared->serve(mine.functions(), pool);
                                       if (w.rank() == 0) shared->end_pass();
                                     },
                                     {.parameter_servers = 1, .staleness = 2});
  REQUIRE(found.size() == 1);
  CHECK(found.at(2) ==
        "lamina: train: expected the same passes in each trainer, found that rank " +
            std::string(found.at(2).find("rank 1") != std::string::npos ? "1" : "0") +
            " has ended its training before others");
}

namespace {

/// A parameter from which an update subtracts the gradient times the first scalar; its accumulator
/// counts updates.
struct one_parameter {
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
              one_parameter& t = *static_cast<one_parameter*>(self);
              for (std::size_t k = 0; k < count; ++k) {
                t.value[first + k] -= t.rate * g[k];
                t.moment[first + k] += 1;
              }
            },
            nullptr,
            [](void* self, const lamina::update_facts& told) {
              one_parameter& t = *static_cast<one_parameter*>(self);
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
                   one_parameter mine;
                   const auto shared = w.make_sync(mine.arrays());
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
                     shared->update({&scalar, 1, 1, nullptr}, nullptr, nullptr, pool);
                     if (mine.value[63] != 100 - static_cast<float>(step + 1) || mine.value[0] != 0)
                       ++wrong;
                   }
                   shared->gather_states(&mine.moment, 1, 0);
                   if (mine.moment[0] != 3 || mine.moment[63] != 3) ++wrong;
                   // Only the sums, as a clip by norm needs them.
                   shared->reduce(weights, pool);
                   shared->gather_sums();
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
                   one_parameter mine;
                   auto shared = w.make_sync(mine.arrays());
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
                   shared->update({nullptr, 0, 1, nullptr}, nullptr, nullptr, pool);
                 },
                 {.parameter_servers = 1});
  REQUIRE(faults.size() == 1);
  CHECK(faults[0] ==
        "lamina: train: expected the same steps in each trainer, found that rank 1 has ended its "
        "training before others");
}
