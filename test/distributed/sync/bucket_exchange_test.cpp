// SPDX-License-Identifier: Apache-2.0
// Buckets are summed over threads and ranks, updated by their owners and sent to all, as soon as
// the groups that complete them have run and not before.

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/distributed/sync/bucket_exchange.hpp>

namespace {

using lamina::distributed::bucket_exchange;
using lamina::distributed::gradient_shards;
using sizes = std::vector<std::size_t>;

/// Arrays whose elements tell the rank, the thread and the position.
struct net {
  net(const sizes& floats, int threads, int rank) {
    of.count = static_cast<int>(floats.size());
    of.threads = threads;
    for (int t = 0; t < threads; ++t)
      for (std::size_t i = 0; i < floats.size(); ++i)
        of.gradients.push_back(add(floats[i], static_cast<float>(1000 * (rank * threads + t)), i));
    for (std::size_t i = 0; i < floats.size(); ++i) of.values.push_back(add(floats[i], -1, i));
  }
  float* add(std::size_t n, float first, std::size_t i) {
    memory.emplace_back(n);
    for (std::size_t k = 0; k < n; ++k)
      memory.back().data()[k] = first + static_cast<float>(10 * i + k % 7);
    return memory.back().data();
  }
  /// The element of a gradient's sum over all parts, each with weight 0.5.
  static float expected(std::size_t i, std::size_t k, int parts) {
    float sum = 0;
    for (int p = 0; p < parts; ++p)
      sum += 0.5f * (static_cast<float>(1000 * p) + static_cast<float>(10 * i + k % 7));
    return sum;
  }
  std::vector<lamina::engine::aligned_buffer> memory;
  lamina::distributed::bucket_arrays of;
};

/// Sets parameters to their sums.
void store(void* self, int parameter, std::size_t first, std::size_t count, float* sum) {
  float* const to = static_cast<net*>(self)->of.values[static_cast<std::size_t>(parameter)];
  std::copy_n(sum, count, to + first);
}

void check_steps(int ranks, int threads, const sizes& floats,
                 const std::vector<lamina::gradient_times>& times, std::size_t bytes, bool whole,
                 bool early, bool communicates) {
  CAPTURE(ranks, threads, bytes, whole, early, communicates);
  const int parts = ranks * threads;
  std::mutex mutex;
  const auto run = [&](test::thread_group& w) {
    net mine(floats, threads, w.rank());
    const net before = net(floats, threads, w.rank());
    bucket_exchange exchange(w, mine.of,
                             gradient_shards(ranks, floats, times.data(), bytes, whole));
    for (int step = 0; step < 3; ++step) {
      for (std::size_t k = 0; k < mine.of.gradients.size(); ++k)
        std::copy_n(before.memory[k].data(), before.memory[k].size(), mine.of.gradients[k]);
      for (std::size_t i = 0; i < floats.size(); ++i) std::fill_n(mine.of.values[i], floats[i], -1);
      exchange.begin({std::vector<double>(static_cast<std::size_t>(parts), 0.5),
                      early ? &store : nullptr, &mine, 3},
                     true);
      std::vector<std::thread> others;
      const auto walk = [&](int t) {
        for (int g = 0; g < 10; ++g) exchange.advance(t, g % 3 == 2 ? -1 : g);
        exchange.finish(t);
      };
      for (int t = 1; t < threads; ++t) others.emplace_back(walk, t);
      walk(0);
      for (auto& t : others) t.join();
      if (!early) {
        exchange.update_by(&store, &mine);
        for (int b = 0; b < exchange.memory().buckets(); ++b)
          for (std::size_t k = 0; k < exchange.memory().mine(b).ranges.size(); ++k) {
            const auto& range = exchange.memory().mine(b).ranges[k];
            const std::lock_guard lock(mutex);
            for (std::size_t e = range.first; e < range.end; ++e)
              REQUIRE(exchange.memory().total(b, k)[e - range.first] ==
                      net::expected(static_cast<std::size_t>(range.array), e, parts));
          }
        for (int t = threads; t-- > 1;)
          others[static_cast<std::size_t>(t - 1)] = std::thread([&, t] { exchange.finish(t); });
        exchange.finish(0);
        for (auto& t : others) t.join();
      }
      exchange.end();
      const std::lock_guard lock(mutex);
      for (std::size_t i = 0; i < floats.size(); ++i)
        for (std::size_t k = 0; k < floats[i]; ++k)
          REQUIRE(mine.of.values[i][k] == net::expected(i, k, parts));
    }
  };
  test::in_ranks(ranks, run, {.communication_thread = communicates});
}

/// CHECK for several threads.
void expect(bool met) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  CHECK(met);
}

}  // namespace

TEST_CASE("all parameters are updated by the sums over all parts", "[threads]") {
  const std::vector<lamina::gradient_times> times{{7, 7}, {3, 6}, {3, 9}, {1, -1}};
  for (const int ranks : {2, 3})
    for (const int threads : {1, 2})
      for (const bool whole : {false, true})
        for (const bool early : {false, true})
          for (const std::size_t bytes : sizes{0, 256, 1048576})
            for (const bool communicates : {false, true})
              check_steps(ranks, threads, {96, 16, 640, 32}, times, bytes, whole, early,
                          communicates);
}

TEST_CASE("with a communication thread, buckets travel while thread 0 computes", "[threads]") {
  const auto run = [](test::thread_group& w) {
    const sizes floats{64, 64};
    const std::vector<lamina::gradient_times> times{{5, 4}, {2, 6}};
    net mine(floats, 1, w.rank());
    bucket_exchange exchange(w, mine.of, gradient_shards(2, floats, times.data(), 256, false));
    exchange.begin({{0.5, 0.5}, &store, &mine, 3}, true);
    exchange.advance(0, 1);
    for (int k = 0; k < 100; ++k) std::this_thread::yield();
    expect(w.starts == 1);  // the sizes
    exchange.advance(0, 4);
    while (w.received < 2) std::this_thread::yield();
    // The first parameter is read no more behind group 5; then its new values travel too.
    exchange.advance(0, 6);
    while (w.received < 5) std::this_thread::yield();
    exchange.finish(0);
    for (const std::size_t i : {0u, 1u}) expect(mine.of.values[i][0] == net::expected(i, 0, 2));
    exchange.end();
  };
  test::in_ranks(2, run, {.communication_thread = true});
}

TEST_CASE("an error in the communication thread is that of the step", "[threads]") {
  const auto run = [](test::thread_group& w) {
    const sizes floats{64};
    const std::vector<lamina::gradient_times> times{{2, 2}};
    net mine(floats, 1, w.rank());
    bucket_exchange exchange(w, mine.of, gradient_shards(2, floats, times.data(), 256, false));
    exchange.begin({{0.5, 0.5}, &store, &mine, 3}, true);
    if (w.rank() == 1) {
      w.fail("lamina: test: the disk is full");
      expect(!exchange.drop());
      throw lamina::error("lamina: test: the disk is full");
    }
    exchange.advance(0, 2);
    exchange.finish(0);
  };
  const auto errors = test::errors_of(2, run, {.communication_thread = true});
  REQUIRE(errors.size() == 2);
  CHECK(errors.at(0) == "rank 1: lamina: test: the disk is full");
}

TEST_CASE("nothing leaves before its groups have run, and no parameter changes that is read",
          "[threads]") {
  test::in_ranks(2, [](test::thread_group& w) {
    const sizes floats{64, 64};
    // The second gradient is complete first; its parameter is read until group 6.
    const std::vector<lamina::gradient_times> times{{5, 4}, {2, 6}};
    net mine(floats, 1, w.rank());
    bucket_exchange exchange(w, mine.of, gradient_shards(2, floats, times.data(), 256, false));
    expect(exchange.memory().buckets() == 2);
    exchange.begin({{0.5, 0.5}, &store, &mine, 3}, true);
    const auto sent = [&w, before = w.starts.load()] { return w.starts - before; };
    exchange.advance(0, 1);
    expect(sent() == 0);
    exchange.advance(0, 2);
    expect(sent() == 1);
    while (w.received < 2) exchange.advance(0, -1);
    for (int k = 0; k < 100; ++k) exchange.advance(0, -1);
    expect(sent() == 1);
    expect(mine.of.values[1][0] != net::expected(1, 0, 2));
    exchange.advance(0, 6);
    exchange.finish(0);
    expect(sent() == 4);
    expect(mine.of.values[1][0] == net::expected(1, 0, 2));
    exchange.end();
  });
}

TEST_CASE("a rank without samples sends no gradients, and those of others count", "[threads]") {
  test::in_ranks(3, [](test::thread_group& w) {
    const sizes floats{96};
    const std::vector<lamina::gradient_times> times{{2, 2}};
    net mine(floats, 1, w.rank());
    bucket_exchange exchange(w, mine.of, gradient_shards(3, floats, times.data(), 0, false));
    exchange.begin({{0.5, 0, 0.5}, nullptr, nullptr, 0}, false);
    exchange.finish(0);
    expect((w.rank() == 1) == (w.sent == 0));
    const std::size_t k = exchange.memory().mine(0).ranges[0].first;
    const float without = net::expected(0, k, 3) - 0.5f * (1000 + static_cast<float>(k % 7));
    expect(exchange.memory().total(0, 0)[0] == without);
    exchange.end();
  });
}

TEST_CASE("mini-batches of several sizes change no parameter", "[threads]") {
  std::mutex mutex;
  int refused = 0;
  test::in_ranks(2, [&](test::thread_group& w) {
    const sizes floats{64};
    const std::vector<lamina::gradient_times> times{{2, 2}};
    net mine(floats, 1, w.rank());
    bucket_exchange exchange(w, mine.of, gradient_shards(2, floats, times.data(), 256, false));
    const float before = mine.of.values[0][0];
    exchange.begin({{0.5, 0.5}, &store, &mine, 3 + w.rank()}, true);
    try {
      exchange.finish(0);
    } catch (const lamina::error& e) {
      const std::lock_guard lock(mutex);
      refused += std::string(e.what()).find("expected the same mini-batch in each process") !=
                 std::string::npos;
    }
    expect(!exchange.drop());
    expect(mine.of.values[0][0] == before);
  });
  CHECK(refused == 2);
}

TEST_CASE("a step without dense gradients leaves no exchange open", "[threads]") {
  test::in_ranks(2, [](test::thread_group& w) {
    const std::vector<lamina::gradient_times> times;
    net mine({}, 1, w.rank());
    bucket_exchange exchange(w, mine.of, gradient_shards(2, {}, times.data(), 256, false));
    for (int step = 0; step < 3; ++step) {
      exchange.begin({{0.5, 0.5}, &store, &mine, 3}, true);
      exchange.finish(0);
      exchange.end();
    }
    expect(w.starts == w.received);
  });
}

TEST_CASE("a step that is given up says whether parameters have changed", "[threads]") {
  test::in_ranks(2, [](test::thread_group& w) {
    const sizes floats{64, 64};
    const std::vector<lamina::gradient_times> times{{1, 1}, {5, 5}};
    net mine(floats, 1, w.rank());
    bucket_exchange exchange(w, mine.of, gradient_shards(2, floats, times.data(), 256, false));
    exchange.begin({{0.5, 0.5}, &store, &mine, 3}, true);
    while (mine.of.values[0][0] != net::expected(0, 0, 2)) exchange.advance(0, 2);
    expect(exchange.drop());
    expect(!exchange.drop());
  });
}
