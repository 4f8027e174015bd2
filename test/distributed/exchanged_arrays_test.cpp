// SPDX-License-Identifier: Apache-2.0
// Processes that differ are told so before the first step; those that do not start alike.

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/error.hpp>
#include <lamina/distributed/exchanged_arrays.hpp>

namespace {

std::string difference(const lamina::shared_facts& in_second) {
  std::mutex mutex;
  std::string found;
  test::in_ranks(2, [&](test::thread_group& w) {
    lamina::engine::aligned_buffer memory(48);
    float* const gradients[] = {memory.data()};
    float* const parameters[] = {memory.data() + 16};
    const std::size_t floats[] = {16};
    const bool has_rows[] = {false};
    float* const accumulators[] = {memory.data() + 32};
    lamina::distributed::exchanged_arrays shared(
        w, {gradients, parameters, floats, has_rows, 1, false, false});
    try {
      shared.begin(w.rank() == 1 ? in_second : lamina::shared_facts{1, 2, 3, 4, 5}, accumulators,
                   1);
    } catch (const lamina::error& e) {
      const std::lock_guard lock(mutex);
      found = e.what();
    }
  });
  return found;
}

}  // namespace

TEST_CASE("the first difference between processes is named", "[threads]") {
  CHECK(difference({1, 2, 3, 4, 5}).empty());
  CHECK(difference({9, 2, 3, 4, 5}) ==
        "lamina: train: expected the same program in each process, found 1 in rank 0 and 9 in rank "
        "1");
  CHECK(difference({1, 9, 3, 4, 5}).find("the same optimizer") != std::string::npos);
  CHECK(difference({1, 2, 9, 4, 5}).find("the same seed") != std::string::npos);
  CHECK(difference({1, 2, 3, 9, 5}).find("the same number of earlier steps") != std::string::npos);
  CHECK(difference({1, 2, 3, 4, 9}).find("the same number of threads") != std::string::npos);
}

TEST_CASE("parameters and accumulators of the first process are those of all", "[threads]") {
  std::mutex mutex;
  test::in_ranks(3, [&](test::thread_group& w) {
    lamina::engine::aligned_buffer memory(16 * 5);
    for (std::size_t k = 0; k < 80; ++k)
      memory.data()[k] = static_cast<float>(100 * w.rank()) + static_cast<float>(k);
    // The second parameter has no gradient, as the statistics of batch_norm.
    float* const gradients[] = {memory.data(), nullptr};
    const std::size_t floats[] = {16, 16};
    const bool has_rows[] = {false, false};
    float* const parameters[] = {memory.data() + 16, memory.data() + 32};
    float* const accumulators[] = {memory.data() + 48, memory.data() + 64};
    lamina::distributed::exchanged_arrays shared(
        w, {gradients, parameters, floats, has_rows, 2, false, false});
    shared.begin({}, accumulators, 1);
    const std::lock_guard lock(mutex);
    CHECK(memory.data()[0] == static_cast<float>(100 * w.rank()));
    for (std::size_t k = 16; k < 80; ++k) CHECK(memory.data()[k] == static_cast<float>(k));
  });
}

TEST_CASE("facts about parts, numbers and sums of metrics are those of all processes",
          "[threads]") {
  std::mutex mutex;
  test::in_ranks(3, [&](test::thread_group& w) {
    lamina::distributed::exchanged_arrays shared(
        w, {nullptr, nullptr, nullptr, nullptr, 0, false, false});
    int facts[6] = {};
    facts[2 * w.rank()] = 10 * w.rank();
    facts[2 * w.rank() + 1] = 10 * w.rank() + 1;
    shared.gather_facts(facts, sizeof(int), 2, 7);
    double numbers[2] = {1.0 * w.rank(), 0.5};
    shared.add_up(numbers, 2);
    lamina::metric_sum mean, sum;
    mean.numerator = w.rank(), mean.denominator = 2;
    sum.numerator = w.rank(), sum.denominator = 1;
    shared.add_up(mean, false);
    shared.add_up(sum, true);
    const std::lock_guard lock(mutex);
    for (int p = 0; p < 6; ++p) CHECK(facts[p] == 10 * (p / 2) + p % 2);
    CHECK(numbers[0] == 3);
    CHECK(numbers[1] == 1.5);
    CHECK(mean.numerator == 3);
    CHECK(mean.denominator == 6);
    CHECK(sum.numerator == 3);
    CHECK(sum.denominator == 1);
  });
}

TEST_CASE("mini-batches of several sizes are an error in each process", "[threads]") {
  std::mutex mutex;
  int refused = 0;
  test::in_ranks(2, [&](test::thread_group& w) {
    lamina::distributed::exchanged_arrays shared(
        w, {nullptr, nullptr, nullptr, nullptr, 0, false, false});
    int facts[2] = {};
    try {
      shared.gather_facts(facts, sizeof(int), 1, 7 + w.rank());
    } catch (const lamina::error& e) {
      const std::lock_guard lock(mutex);
      ++refused;
      CHECK(std::string(e.what()).find("expected the same mini-batch in each process") !=
            std::string::npos);
    }
  });
  CHECK(refused == 2);
}

TEST_CASE("moving statistics are the mean over the parts, and what is equal stays", "[threads]") {
  std::mutex mutex;
  test::in_ranks(2, [&](test::thread_group& w) {
    lamina::distributed::exchanged_arrays shared(
        w, {nullptr, nullptr, nullptr, nullptr, 0, false, false});
    float first[16] = {}, second[16] = {}, mean[16] = {};
    for (int k = 0; k < 16; ++k) {
      first[k] = k == 3 ? 0.1f : static_cast<float>(2 * w.rank());
      second[k] = k == 3 ? 0.1f : static_cast<float>(2 * w.rank() + 1);
    }
    const float* const copies[] = {first, second};
    float* const to[] = {mean};
    const std::size_t floats[] = {16};
    const float weight[] = {0.1f, 0.2f, 0.3f, 0.4f};
    shared.average(copies, to, floats, 1, {weight, sizeof(float), 4, 2});
    const std::lock_guard lock(mutex);
    CHECK(mean[0] == Approx(0.2 + 0.6 + 1.2));
    CHECK(mean[3] == 0.1f);
  });
}
