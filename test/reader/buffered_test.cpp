// SPDX-License-Identifier: Apache-2.0
// buffered: a thread that reads ahead, its errors and its end.
#include <atomic>
#include <chrono>
#include <cstdint>
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
#include <lamina/reader/buffered.hpp>
#include <lamina/reader/reader.hpp>

namespace reader = lamina::reader;
using test::iota;
using test::read;

namespace {

lamina::generator<int> failing() {
  for (int i = 0; i < 20; ++i) co_yield i;
  throw std::runtime_error("the disk is gone");
}

struct alive {
  explicit alive(std::atomic<int>& count) : count_(count) { ++count_; }
  alive(const alive&) = delete;
  ~alive() { --count_; }
  std::atomic<int>& count_;
};

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

TEST_CASE("buffered keeps elements and order", "[reader][threads]") {
  for (std::size_t size : {1u, 2u, 7u, 2000u}) {
    auto r = iota(1000) | reader::buffered(size);
    CHECK(read(r) == iota(1000));
    CHECK(read(r) == iota(1000));
  }
  CHECK(read(iota(0) | reader::buffered(3)).empty());
  CHECK_THROWS_AS(reader::buffered(0), lamina::error);
}

TEST_CASE("buffered reads ahead, but not further than its buffer", "[reader][threads]") {
  std::atomic<int> made = 0;
  auto counted = [&made]() -> lamina::generator<int> {
    for (;;) co_yield made++;
  };
  auto pass = reader::begin_pass(counted | reader::buffered(4));
  CHECK(*pass.begin() == 0);
  // 1 taken, 4 in the buffer, 1 in the producer's hand.
  for (int i = 0; i < 2000 && made < 6; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(made == 6);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(made == 6);
}

TEST_CASE("buffered reads in another thread", "[reader][threads]") {
  auto ids = [] { return [](std::uint64_t) { return std::vector{std::this_thread::get_id()}; }; };
  const auto found = read(ids() | reader::buffered(1));
  REQUIRE(found.size() == 1);
  CHECK(found[0] != std::this_thread::get_id());
}

TEST_CASE("an exception of the producer reaches the consumer in its place", "[reader][threads]") {
  using result = std::pair<std::vector<int>, std::string>;
  const result expected{iota(20), "the disk is gone"};
  for (int i = 0; i < 20; ++i) {
    CHECK(read_until_failure(failing | reader::buffered(3)) == expected);
    CHECK(read_until_failure(failing | reader::xmap([](int x) { return x; }, 3, 5)) == expected);
    CHECK(read_until_failure(failing | reader::xmap([](int x) { return x; }, 3, 5) |
                             reader::buffered(2)) == expected);
  }
  // Without order the failure comes when it is ready, after any 0 to 20 elements, each once.
  const auto unordered =
      read_until_failure(failing | reader::xmap([](int x) { return x; }, 3, 5, false));
  CHECK(unordered.second == "the disk is gone");
  CHECK(unordered.first.size() <= 20);
}

TEST_CASE("a pass dropped early joins its threads and unwinds its source", "[reader][threads]") {
  std::atomic<int> count = 0;
  auto watched = [&count]() -> lamina::generator<int> {
    const alive here(count);
    for (int i = 0;; ++i) co_yield i;
  };
  auto r = watched | reader::buffered(3) | reader::xmap([](int x) { return x; }, 3, 4) |
           reader::xmap([](int x) { return x; }, 2, 1, false) | reader::buffered(2);
  for (int taken = 0; taken < 20; ++taken) {
    {
      auto pass = reader::begin_pass(r);
      auto it = pass.begin();
      for (int i = 0; i < taken; ++i) ++it;
      CHECK(count == 1);
    }
    CHECK(count == 0);
  }
  { auto never_begun = reader::begin_pass(r); }
  CHECK(count == 0);
}
