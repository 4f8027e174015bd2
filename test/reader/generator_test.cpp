// SPDX-License-Identifier: Apache-2.0
#include <iterator>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/reader/generator.hpp>

namespace {

struct point {
  float x, y;
};
struct document {
  std::string title;
  std::vector<int> words;
};

lamina::generator<int> count_to(int n) {
  for (int i = 0; i < n; ++i) co_yield i;
}

lamina::generator<point> line() {
  for (float x = 0;; ++x) co_yield {x, 2 * x};
}

lamina::generator<document> documents() {
  // g++ 12 does not take an initializer list, {"...", {7, 7, 7}}, inside a co_yield.
  co_yield {"a title too long for the small buffer of a string", std::vector<int>(3, 7)};
  co_yield {std::string(100, 'b'), std::vector<int>(50, 7)};
  document kept{std::string(60, 'c'), {}};
  co_yield kept;
  co_yield lamina::hand_over(kept);
  co_yield lamina::hand_over(std::move(kept));
}

struct alive {
  explicit alive(int& count) : count_(count) { ++count_; }
  alive(const alive&) = delete;
  ~alive() { --count_; }
  int& count_;
};

lamina::generator<int> watched(int& count) {
  const alive outer(count);
  for (int i = 0;; ++i) {
    const alive inner(count);
    co_yield i;
  }
}

lamina::generator<std::unique_ptr<int>> move_only() {
  co_yield std::make_unique<int>(4);
  co_yield std::make_unique<int>(5);
}

lamina::generator<int> failing(int after) {
  for (int i = 0; i < after; ++i) co_yield i;
  throw std::runtime_error("no more");
}

}  // namespace

static_assert(std::ranges::input_range<lamina::generator<int>>);
static_assert(std::ranges::input_range<lamina::generator<std::unique_ptr<int>>>);
static_assert(!std::is_copy_constructible_v<lamina::generator<int>>);
static_assert(std::is_nothrow_move_constructible_v<lamina::generator<int>>);

TEST_CASE("a generator yields in order and ends", "[reader]") {
  std::vector<int> seen;
  for (int i : count_to(4)) seen.push_back(i);
  CHECK(seen == std::vector{0, 1, 2, 3});
  for (int i : count_to(0)) FAIL("an empty generator yielded " << i);
}

TEST_CASE("a generator takes aggregates in braces", "[reader]") {
  int steps = 0;
  for (auto [x, y] : line()) {
    CHECK(y == 2 * x);
    if (++steps == 5) break;
  }
  CHECK(steps == 5);

  std::vector<document> seen;
  for (auto&& d : documents()) seen.push_back(std::forward<decltype(d)>(d));
  REQUIRE(seen.size() == 5);
  CHECK(seen[0].title == "a title too long for the small buffer of a string");
  CHECK(seen[0].words == std::vector{7, 7, 7});
  CHECK(seen[1].title == std::string(100, 'b'));
  CHECK(seen[1].words.size() == 50);
  for (int i : {2, 3, 4}) CHECK(seen[static_cast<std::size_t>(i)].title == std::string(60, 'c'));
}

TEST_CASE("a generator hands out elements that can only be moved", "[reader]") {
  std::vector<std::unique_ptr<int>> seen;
  for (auto&& p : move_only()) seen.push_back(std::move(p));
  REQUIRE(seen.size() == 2);
  CHECK(*seen[0] + *seen[1] == 9);
}

TEST_CASE("a generator dropped early unwinds its function", "[reader]") {
  int count = 0;
  {
    auto g = watched(count);
    CHECK(count == 0);  // nothing runs before the first element is asked for
    auto it = g.begin();
    ++it;
    CHECK(*it == 1);
    CHECK(count == 2);
    auto moved = std::move(g);
    CHECK(count == 2);
    CHECK(*moved.begin() == 1);  // begin() of a pass under way: where it stands
  }
  CHECK(count == 0);
}

TEST_CASE("a generator passes on what its function throws", "[reader]") {
  auto at_once = failing(0);
  CHECK_THROWS_WITH(at_once.begin(), "no more");
  auto later = failing(2);
  auto it = later.begin();
  ++it;
  CHECK_THROWS_WITH(++it, "no more");
  CHECK(it == later.end());
}

TEST_CASE("assignment drops the generator that was there", "[reader]") {
  int first = 0, second = 0;
  auto g = watched(first);
  g.begin();
  auto h = watched(second);
  h.begin();
  g = std::move(h);
  CHECK(first == 0);
  CHECK(second == 2);
}
