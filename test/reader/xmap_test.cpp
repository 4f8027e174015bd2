// SPDX-License-Identifier: Apache-2.0
// xmap: a function computed by several threads, its errors and its end.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "reader/read.hpp"
#include <catch2/catch.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/threads/worker_pool.hpp>
#include <lamina/reader/reader.hpp>
#include <lamina/reader/xmap.hpp>

namespace reader = lamina::reader;
using test::endless;
using test::iota;
using test::read;

namespace {

// What a pass yields before it throws, and what it throws.
template <class R>
std::pair<std::vector<int>, std::string> read_until_failure(R&& r) {
  std::vector<int> seen;
  try {
    for (int x : reader::begin_pass(r)) seen.push_back(x);
  } catch (const std::runtime_error& e) {
    return {seen, e.what()};
  }
  return {seen, "nothing thrown"};
}

}  // namespace

TEST_CASE("an exception of a mapped function has the place of its element", "[reader][threads]") {
  auto f = [](int x) {
    if (x == 5) throw std::runtime_error("bad element");
    return x;
  };
  for (int i = 0; i < 20; ++i)
    CHECK(read_until_failure(endless | reader::xmap(f, 4, 3)) ==
          std::pair<std::vector<int>, std::string>{iota(5), "bad element"});
}

TEST_CASE("ordered xmap is map", "[reader][threads]") {
  // Uneven work, so that the threads overtake each other.
  auto f = [](int x) {
    if (x % 7 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
    return 3 * x;
  };
  const auto expected = read(iota(300) | reader::map(f));
  for (std::size_t threads : {1u, 2u, 8u})
    for (std::size_t buffer : {1u, 3u, 1000u}) {
      auto r = iota(300) | reader::xmap(f, threads, buffer);
      CHECK(read(r) == expected);
      CHECK(read(r) == expected);
    }
}

TEST_CASE("unordered xmap yields every element once", "[reader][threads]") {
  for (std::size_t buffer : {1u, 4u}) {
    auto found = read(iota(500) | reader::xmap([](int x) { return x; }, 4, buffer, false));
    std::sort(found.begin(), found.end());
    CHECK(found == iota(500));
  }
}

TEST_CASE("xmap with options, endless and empty readers", "[reader][threads]") {
  auto half = [](int x) { return x / 2.0; };
  CHECK(read(endless | reader::xmap(half, {.threads = 3, .buffer = 2}) | reader::first_n(3)) ==
        std::vector{0.0, 0.5, 1.0});
  CHECK(read(iota(0) | reader::xmap(half)).empty());
  CHECK_THROWS_AS(reader::xmap(half, 0, 1), lamina::error);
  CHECK_THROWS_AS(reader::xmap(half, 1, 0), lamina::error);
}

TEST_CASE("xmap computes side by side", "[reader][threads]") {
  // Two calls wait for each other: one thread alone would never get past the first.
  std::atomic<int> inside = 0;
  auto meet = [&inside](int x) {
    ++inside;
    for (int i = 0; i < 5000 && inside < 2; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return inside >= 2 ? x : -1;
  };
  CHECK(read(iota(2) | reader::xmap(meet, 2, 2)) == iota(2));
}

TEST_CASE("each worker of xmap has its own copy of the function", "[reader][threads]") {
  struct counted {
    std::shared_ptr<std::atomic<int>> copies = std::make_shared<std::atomic<int>>(0);
    counted() = default;
    counted(const counted& other) : copies(other.copies) { ++*copies; }
    int operator()(int x) const { return x; }
  };
  const counted f;
  CHECK(read(iota(100) | reader::xmap(f, 4, 8)) == iota(100));
  CHECK(*f.copies >= 4);
}

// Not tagged [threads]: the thread sanitizer ends every child of a process with threads that starts
// threads of its own ("starting new threads after multi-threaded fork is not supported").
TEST_CASE("a child that was forked has a pool of its own threads", "[fork]") {
  for (const int tasks : {1, 2, 5}) {
    lamina::worker_pool pool(tasks);
    const auto sum = [&] {
      std::atomic<int> all{0};
      for (int round = 0; round < 20; ++round) pool.run([&](int t) { all += t + 1; });
      return all.load();
    };
    const int expected = 20 * tasks * (tasks + 1) / 2;
    CHECK(sum() == expected);
    const bool uses = tasks != 2;
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);  // a child that waits for threads of its parent would wait for ever
      int status = 0;
      if (uses) status = sum() == expected && sum() == expected ? 0 : 1;
      pool.~worker_pool();
      ::_exit(status);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(sum() == expected);
  }
}

TEST_CASE("one decorated reader serves several threads at once", "[reader][threads]") {
  const auto r =
      endless | reader::cache() | reader::shuffle(50) | reader::buffered(4) | reader::first_n(200);
  const auto expected = read(r, 2);
  std::vector<std::vector<int>> found(4);
  std::vector<std::thread> threads;
  for (auto& f : found) threads.emplace_back([&r, &f] { f = read(r, 2); });
  for (auto& t : threads) t.join();
  for (auto& f : found) CHECK(f == expected);
}
