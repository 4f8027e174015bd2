// SPDX-License-Identifier: Apache-2.0
// Requests that wait, and workers that take them several at a time.
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/serve/batching_queue.hpp>

namespace serve = lamina::serve;
using namespace std::chrono_literals;

namespace {

struct item {
  int number = 0, rows = 1;
};
struct rows_of {
  int operator()(const std::unique_ptr<item>& i) const { return i->rows; }
};
using queue = serve::batching_queue<std::unique_ptr<item>, rows_of>;

std::unique_ptr<item> made(int number, int rows = 1) {
  return std::make_unique<item>(item{number, rows});
}

}  // namespace

TEST_CASE("a batching queue gives out as many requests as fit, in their order") {
  queue q({.waiting = 10, .rows = 4}, {});
  for (const int rows : {1, 2, 2, 9, 4, 1})
    REQUIRE(q.put(made(rows, rows)) == serve::put_result::taken);
  CHECK(q.waiting() == 6);
  const auto rows = [&] {
    std::vector<int> all;
    for (const auto& i : q.take()) all.push_back(i->rows);
    return all;
  };
  CHECK(rows() == std::vector{1, 2});
  CHECK(rows() == std::vector{2});
  CHECK(rows() == std::vector{9});  // more than fit, alone
  CHECK(rows() == std::vector{4});
  CHECK(rows() == std::vector{1});
  CHECK(q.waiting() == 0);
}

TEST_CASE("a full or closed batching queue leaves the request with the caller") {
  queue q({.waiting = 2, .rows = 4}, {});
  CHECK(q.put(made(1)) == serve::put_result::taken);
  CHECK(q.put(made(2)) == serve::put_result::taken);
  auto third = made(3);
  CHECK(q.put(std::move(third)) == serve::put_result::full);
  REQUIRE(third != nullptr);
  q.close();
  CHECK(q.put(std::move(third)) == serve::put_result::closed);
  REQUIRE(third != nullptr);
  CHECK(q.take().size() == 2);  // what waited is not lost
  CHECK(q.take().empty());
  CHECK(q.take().empty());
  CHECK_THROWS_WITH(queue({.waiting = 0}, {}), Catch::Contains("expected at least 1 waiting"));
  CHECK_THROWS_AS(queue({.rows = 0}, {}), lamina::error);
  CHECK_THROWS_AS(queue({.linger = -1us}, {}), lamina::error);
}

TEST_CASE("a batching queue that lingers waits for a whole mini-batch, or for its time") {
  queue q({.waiting = 100, .rows = 3, .linger = 60s}, {});
  std::thread later([&] {
    for (int i = 0; i < 3; ++i) {
      std::this_thread::sleep_for(5ms);
      q.put(made(i));
    }
  });
  CHECK(q.take().size() == 3);
  later.join();
  queue brief({.waiting = 100, .rows = 3, .linger = 2ms}, {});
  brief.put(made(1));
  CHECK(brief.take().size() == 1);
}

TEST_CASE("no request of a batching queue is lost or taken twice", "[threads]") {
  constexpr int callers = 3, each = 3000;
  for (const auto linger : {0us, 50us}) {
    queue q({.waiting = 64, .rows = 8, .linger = linger}, {});
    std::vector<std::atomic<int>> seen(callers * each);
    std::vector<std::thread> threads, workers;
    for (int w = 0; w < 3; ++w)
      workers.emplace_back([&] {
        for (;;) {
          const auto taken = q.take();
          if (taken.empty()) return;
          for (const auto& i : taken) ++seen[static_cast<std::size_t>(i->number)];
        }
      });
    for (int c = 0; c < callers; ++c)
      threads.emplace_back([&, c] {
        for (int i = 0; i < each; ++i) {
          auto mine = made(c * each + i, 1 + i % 3);
          while (q.put(std::move(mine)) == serve::put_result::full) std::this_thread::yield();
        }
      });
    for (auto& t : threads) t.join();
    q.close();
    for (auto& t : workers) t.join();
    int wrong = 0;
    for (const auto& n : seen) wrong += n != 1;
    CHECK(wrong == 0);
  }
}
