// SPDX-License-Identifier: Apache-2.0
// Processes that differ are told so before the first step; those that do not start alike.

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/distributed/sync/allreduce.hpp>

namespace {

std::string difference(const lamina::sync_facts& in_second,
                       const std::string& options = "a = 1\n") {
  std::mutex mutex;
  std::string found;
  test::in_ranks(2, [&](test::thread_group& w) {
    lamina::engine::aligned_buffer memory(48);
    float* const gradients[] = {memory.data()};
    float* const parameters[] = {memory.data() + 16};
    const std::size_t floats[] = {16};
    const bool has_rows[] = {false};
    float* const accumulators[] = {memory.data() + 32};
    lamina::distributed::allreduce shared(
        w, {gradients, parameters, floats, has_rows, 1, false, false});
    const std::string mine = w.rank() == 1 ? options : "a = 1\n";
    shared.describe({[](const void* of) { return *static_cast<const std::string*>(of); }, &mine});
    try {
      shared.begin(w.rank() == 1 ? in_second : lamina::sync_facts{1, 3, 4, 5}, accumulators, 1);
    } catch (const lamina::error& e) {
      const std::lock_guard lock(mutex);
      found = e.what();
    }
  });
  return found;
}

}  // namespace

TEST_CASE("the first difference between processes is named", "[threads]") {
  CHECK(difference({1, 3, 4, 5}).empty());
  CHECK(difference({9, 3, 4, 5}) ==
        "lamina: train: expected the same program in each process, found 1 in rank 0 and 9 in rank "
        "1");
  CHECK(difference({1, 9, 4, 5}).find("the same seed") != std::string::npos);
  CHECK(difference({1, 3, 9, 5}).find("the same number of earlier steps") != std::string::npos);
  CHECK(difference({1, 3, 4, 9}).find("the same number of threads") != std::string::npos);
  CHECK(difference({1, 3, 4, 5, 1}).find("the same sync_batch_norm") != std::string::npos);
  CHECK(difference({1, 3, 4, 5}, "a = 2\nb = 3\n") ==
        "lamina: train: expected the same optimizer in each process, found a = 1 in rank 0 and a = "
        "2, b = 3 in rank 1");
  CHECK(difference({1, 3, 4, 5}, "") ==
        "lamina: train: expected the same optimizer in each process, found a = 1 in rank 0 and no "
        "other option in rank 1");
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
    lamina::distributed::allreduce shared(
        w, {gradients, parameters, floats, has_rows, 2, false, false});
    shared.begin({}, accumulators, 1);
    const std::lock_guard lock(mutex);
    CHECK(memory.data()[0] == static_cast<float>(100 * w.rank()));
    for (std::size_t k = 16; k < 80; ++k) CHECK(memory.data()[k] == static_cast<float>(k));
  });
}

TEST_CASE("ranks that divide accumulators have those of their shards, and rank 0 gets all",
          "[threads]") {
  // Two parameters with gradients, and between them one without, as the statistics of batch_norm.
  constexpr std::size_t sizes[] = {48 * 1024, 16, 12 * 1024};
  constexpr std::size_t all = sizes[0] + sizes[1] + sizes[2];
  constexpr int ranks = 3;
  const lamina::gradient_times times[] = {{1, 0}, {-1, -1}, {0, 0}};
  const std::size_t bucket = 96 << 10;
  /// Element k of accumulator s of parameter i, after so many updates.
  const auto value = [](std::size_t i, std::size_t s, std::size_t k, int updates) {
    return static_cast<float>(100000 * (2 * i + s) + k + 1) + 0.25f * static_cast<float>(updates);
  };
  // The parameter without a gradient has no floats in shards.
  const lamina::distributed::gradient_shards shards(ranks, {sizes[0], 0, sizes[2]}, times, bucket,
                                                    false);
  REQUIRE(shards.buckets().size() > 2);
  std::mutex mutex;
  const auto run = [&](test::thread_group& w) {
    lamina::engine::aligned_buffer memory(all * 3), gradient(all);
    float *parameters[3], *accumulators[6];
    float* at = memory.data();
    for (std::size_t i = 0; i < 3; ++i) parameters[i] = at, at += sizes[i];
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t s = 0; s < 2; ++s) accumulators[2 * i + s] = at, at += sizes[i];
    if (w.rank() == 0)
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t s = 0; s < 2; ++s)
          for (std::size_t k = 0; k < sizes[i]; ++k) accumulators[2 * i + s][k] = value(i, s, k, 0);
    float* const gradients[] = {gradient.data(), nullptr, gradient.data() + sizes[0]};
    const bool has_rows[] = {false, false, false};
    lamina::trained_arrays of{gradients, parameters, sizes, has_rows, 3, false, false, times};
    of.divides_states = true;
    lamina::distributed::allreduce shared(w, of);
    /// How many elements of the shards of a rank are as after so many updates.
    const auto found = [&](int rank, int updates) {
      std::size_t n = 0;
      for (const auto& b : shards.buckets())
        for (const auto& r : b.of_rank[static_cast<std::size_t>(rank)].ranges)
          for (std::size_t s = 0; s < 2; ++s)
            for (std::size_t k = r.first; k < r.end; ++k)
              n += accumulators[2 * r.array + static_cast<int>(s)][k] ==
                   value(static_cast<std::size_t>(r.array), s, k, updates);
      return n;
    };
    constexpr std::size_t each = 2 * (sizes[0] + sizes[2]) / ranks;
    std::size_t zeros = 0;
    shared.begin({}, accumulators, 2);
    {
      const std::lock_guard lock(mutex);
      CHECK(shared.divides_states());
      for (int r = 0; r < ranks; ++r)
        CHECK(found(r, 0) == (w.rank() == 0 || r == w.rank() ? each : 0));
      CHECK(accumulators[3][15] == value(1, 1, 15, 0));  // belongs to all ranks
    }
    for (int update = 1; update < 3; ++update) {
      shared.release_others(accumulators, 2);
      for (const auto& b : shards.buckets())
        for (const auto& r : b.of_rank[static_cast<std::size_t>(w.rank())].ranges)
          for (std::size_t s = 0; s < 2; ++s)
            for (std::size_t k = r.first; k < r.end; ++k)
              accumulators[2 * r.array + static_cast<int>(s)][k] += 0.25f;
      for (std::size_t k = 0; k < 2 * all; ++k) zeros += accumulators[0][k] == 0;
      const std::size_t sent = w.sent;
      shared.gather_states(accumulators, 2, 0);
      const std::lock_guard lock(mutex);
      CHECK(w.sent - sent == (w.rank() == 0 ? 0 : each * sizeof(float)));
      CHECK(found(w.rank(), update) == each);
      for (int r = 0; r < ranks && w.rank() == 0; ++r) CHECK(found(r, update) == each);
      CHECK(accumulators[3][15] == value(1, 1, 15, 0));
#if defined(__linux__)
      // At most a page at each end of a shard of a bucket stays.
      if (w.rank() == 0)
        CHECK(zeros >= (2 * each - 2 * 2 * shards.buckets().size() * 1024) *
                           static_cast<std::size_t>(update));
#endif
    }
  };
  test::in_ranks(ranks, run, {.bucket_bytes = bucket});
}

TEST_CASE("facts about parts, numbers and sums of metrics are those of all processes",
          "[threads]") {
  std::mutex mutex;
  test::in_ranks(3, [&](test::thread_group& w) {
    lamina::distributed::allreduce shared(w, {nullptr, nullptr, nullptr, nullptr, 0, false, false});
    int facts[6] = {};
    facts[2 * w.rank()] = 10 * w.rank();
    facts[2 * w.rank() + 1] = 10 * w.rank() + 1;
    shared.gather_facts(facts, sizeof(int), 2, 7);
    double numbers[2] = {1.0 * w.rank(), 0.5};
    shared.all_reduce_sum(numbers, 2);
    lamina::metric_sum mean, sum;
    mean.numerator = w.rank(), mean.denominator = 2;
    sum.numerator = w.rank(), sum.denominator = 1;
    shared.all_reduce_sum(mean, false);
    shared.all_reduce_sum(sum, true);
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
    lamina::distributed::allreduce shared(w, {nullptr, nullptr, nullptr, nullptr, 0, false, false});
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

TEST_CASE("another update in one process is an error in each", "[threads]") {
  const auto found = test::errors_of(3, [&](test::thread_group& w) {
    lamina::distributed::allreduce shared(w, {nullptr, nullptr, nullptr, nullptr, 0, false, false});
    const std::string mine = w.rank() == 2 ? "rate = 0.5\n" : "rate = 1\n";
    shared.describe({[](const void* of) { return *static_cast<const std::string*>(of); }, &mine});
    int facts[3] = {};
    shared.use(7);
    shared.gather_facts(facts, sizeof(int), 1, 7);
    shared.use(w.rank() == 2 ? 8 : 7);
    shared.gather_facts(facts, sizeof(int), 1, 7);
  });
  CHECK(found.size() == 3);
  for (const auto& [rank, why] : found) {
    INFO(rank);
    CHECK(why ==
          "lamina: train: expected the same optimizer in each process, found rate = 1 in rank 0 "
          "and rate = 0.5 in rank 2");
  }
}

TEST_CASE("moving statistics are the mean over the parts, and what is equal stays", "[threads]") {
  std::mutex mutex;
  test::in_ranks(2, [&](test::thread_group& w) {
    lamina::distributed::allreduce shared(w, {nullptr, nullptr, nullptr, nullptr, 0, false, false});
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
