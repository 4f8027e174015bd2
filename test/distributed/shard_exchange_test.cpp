// SPDX-License-Identifier: Apache-2.0
// Gradients are summed over ranks, each in its shard, and what the ranks updated is collected.

#include <cstddef>
#include <mutex>
#include <vector>

#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/owned_array.hpp>
#include <lamina/distributed/shard_exchange.hpp>

namespace {

using sizes = std::vector<std::size_t>;

/// Arrays whose elements tell the rank and the position.
struct arrays {
  arrays(const sizes& floats, double of_rank) {
    double next = 0;
    for (const std::size_t f : floats) {
      memory.emplace_back(f);
      for (std::size_t k = 0; k < f; ++k)
        memory.back().data()[k] = static_cast<float>(of_rank * 1000 + next++);
      of.push_back(memory.back().data());
    }
  }
  std::vector<lamina::engine::aligned_buffer> memory;
  std::vector<float*> of;
};

void check_ranks(int ranks, const sizes& floats, bool whole) {
  CAPTURE(ranks, whole);
  std::size_t all = 0;
  for (const std::size_t f : floats) all += f;
  std::mutex mutex;
  std::vector<std::vector<int>> owners(floats.size());
  for (std::size_t i = 0; i < floats.size(); ++i) owners[i].assign(floats[i], 0);
  test::in_ranks(ranks, [&](test::thread_group& w) {
    lamina::distributed::shard_exchange exchange(w, floats, whole);
    arrays mine(floats, w.rank());
    std::vector<float> weight(static_cast<std::size_t>(ranks), 0.5f);
    const lamina::owned_array<bool> has(weight.size());
    for (std::size_t r = 0; r < weight.size(); ++r) has[r] = true;
    exchange.reduce<float>(mine.of.data(), weight.data(), has.get());
    const std::size_t sent_sums = w.sent;
    const std::lock_guard lock(mutex);
    std::size_t owned = 0;
    for (std::size_t k = 0; k < exchange.mine().size(); ++k) {
      const auto& range = exchange.mine()[k];
      owned += range.end - range.first;
      for (std::size_t e = range.first; e < range.end; ++e) {
        const std::size_t i = static_cast<std::size_t>(range.array);
        ++owners[i][e];
        float expected = 0;
        for (int r = 0; r < ranks; ++r)
          expected += 0.5f * (mine.of[i][e] + static_cast<float>(1000 * (r - w.rank())));
        CHECK(exchange.total(k)[e - range.first] == Approx(expected));
      }
      if (whole) CHECK(range.end - range.first == floats[static_cast<std::size_t>(range.array)]);
    }
    // No rank sends more than what it does not own.
    CHECK(sent_sums == (all - owned) * sizeof(float));
  });
  for (const auto& of : owners)
    for (const int count : of) CHECK(count == 1);

  test::in_ranks(ranks, [&](test::thread_group& w) {
    lamina::distributed::shard_exchange exchange(w, floats, whole);
    arrays mine(floats, w.rank());
    for (const auto& range : exchange.mine())
      for (std::size_t e = range.first; e < range.end; ++e)
        mine.of[static_cast<std::size_t>(range.array)][e] = -static_cast<float>(e);
    exchange.collect(mine.of.data());
    const std::lock_guard lock(mutex);
    for (std::size_t i = 0; i < floats.size(); ++i)
      for (std::size_t e = 0; e < floats[i]; ++e) REQUIRE(mine.of[i][e] == -static_cast<float>(e));
  });
}

}  // namespace

TEST_CASE("each float has one owner, which sums it and gives it to all", "[threads]") {
  for (const int ranks : {2, 3, 5})
    for (const bool whole : {false, true}) {
      check_ranks(ranks, {64, 16, 160, 16}, whole);
      check_ranks(ranks, {16}, whole);
      check_ranks(ranks, {16, 16, 1600}, whole);
    }
}

TEST_CASE("a rank without samples sends no gradients", "[threads]") {
  std::mutex mutex;
  test::in_ranks(3, [&](test::thread_group& w) {
    lamina::distributed::shard_exchange exchange(w, {96}, false);
    arrays mine({96}, w.rank());
    const bool has[] = {true, false, true};
    exchange.reduce<float>(mine.of.data(), nullptr, has);
    const std::lock_guard lock(mutex);
    CHECK((w.rank() == 1) == (w.sent == 0));
    const auto& range = exchange.mine()[0];
    const float expected =
        2 * (mine.of[0][range.first] - 1000.0f * static_cast<float>(w.rank())) + 2000;
    CHECK(exchange.total(0)[0] == Approx(expected));
  });
}

TEST_CASE("all ranks get the arrays of the first", "[threads]") {
  std::mutex mutex;
  test::in_ranks(3, [&](test::thread_group& w) {
    const sizes floats{32, 48};
    lamina::distributed::shard_exchange exchange(w, floats, false);
    arrays mine(floats, w.rank());
    exchange.spread(mine.of.data(), floats);
    const std::lock_guard lock(mutex);
    CHECK(mine.of[0][5] == 5);
    CHECK(mine.of[1][0] == 32);
  });
}
