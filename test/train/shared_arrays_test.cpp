// SPDX-License-Identifier: Apache-2.0
// Processes that differ are told so before the first step; those that do not start alike.

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "train/thread_world.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/error.hpp>
#include <lamina/train/shared_arrays.hpp>

namespace {

std::string difference(const lamina::shared_facts& in_second) {
  std::mutex mutex;
  std::string found;
  test::in_ranks(2, [&](test::thread_world& w) {
    lamina::engine::aligned_buffer memory(48);
    const std::vector<float*> gradients{memory.data()};
    float* const parameters[] = {memory.data() + 16};
    float* const accumulators[] = {memory.data() + 32};
    lamina::shared_arrays shared(w, gradients, parameters, {16}, false);
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
  test::in_ranks(3, [&](test::thread_world& w) {
    lamina::engine::aligned_buffer memory(16 * 5);
    for (std::size_t k = 0; k < 80; ++k)
      memory.data()[k] = static_cast<float>(100 * w.rank()) + static_cast<float>(k);
    // The second parameter has no gradient, as the statistics of batch_norm.
    const std::vector<float*> gradients{memory.data(), nullptr};
    float* const parameters[] = {memory.data() + 16, memory.data() + 32};
    float* const accumulators[] = {memory.data() + 48, memory.data() + 64};
    lamina::shared_arrays shared(w, gradients, parameters, {16, 16}, false);
    shared.begin({}, accumulators, 1);
    const std::lock_guard lock(mutex);
    CHECK(memory.data()[0] == static_cast<float>(100 * w.rank()));
    for (std::size_t k = 16; k < 80; ++k) CHECK(memory.data()[k] == static_cast<float>(k));
  });
}
