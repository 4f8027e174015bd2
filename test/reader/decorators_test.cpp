// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/error.hpp>
#include <lamina/reader/reader.hpp>

namespace reader = lamina::reader;

namespace {

template <class R>
std::vector<reader::reader_element_t<R>> read(R&& r, std::uint64_t pass = 0) {
  std::vector<reader::reader_element_t<R>> all;
  for (auto&& x : reader::begin_pass(std::forward<R>(r), pass))
    all.push_back(std::forward<decltype(x)>(x));
  return all;
}

std::vector<int> iota(int n) {
  std::vector<int> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  return v;
}

lamina::generator<int> endless() {
  for (int i = 0;; ++i) co_yield i;
}

struct sample {
  float x, y;
};
lamina::generator<sample> synthetic() {
  for (float x = 0;; ++x) co_yield {x, 2 * x + 1};
}

}  // namespace

TEST_CASE("map applies a function to each element", "[reader]") {
  CHECK(read(iota(4) | reader::map([](int x) { return x * x; })) == std::vector{0, 1, 4, 9});
  CHECK(read(iota(2) | reader::map([](int x) { return std::to_string(x); })) ==
        std::vector<std::string>{"0", "1"});
}

TEST_CASE("map zips several readers and stops with the shortest", "[reader]") {
  auto sum = reader::map([](int a, int b, double c) { return a + b + c; }, endless, iota(3),
                         std::vector{0.5, 1.5, 2.5, 3.5});
  CHECK(read(sum) == std::vector{0.5, 3.5, 6.5});
  CHECK(read(sum) == std::vector{0.5, 3.5, 6.5});
}

TEST_CASE("shuffle keeps the elements and changes their order", "[reader]") {
  auto shuffled = iota(1000) | reader::shuffle(1000, 7);
  const auto first = read(shuffled), second = read(shuffled, 1);
  CHECK(first != iota(1000));
  CHECK(first != second);
  CHECK(read(shuffled) == first);
  CHECK(read(iota(1000) | reader::shuffle(1000, 7), 1) == second);
  CHECK(read(iota(1000) | reader::shuffle(1000, 8)) != first);
  for (auto order : {first, second}) {
    std::sort(order.begin(), order.end());
    CHECK(order == iota(1000));
  }
}

TEST_CASE("shuffle stays within its buffer and shuffles the rest", "[reader]") {
  const auto order = read(iota(25) | reader::shuffle(10));
  REQUIRE(order.size() == 25);
  for (std::size_t i = 0; i < 25; ++i) CHECK(order[i] / 10 == static_cast<int>(i) / 10);
  CHECK(std::vector<int>(order.begin() + 20, order.end()) != std::vector{20, 21, 22, 23, 24});
  CHECK(read(iota(5) | reader::shuffle(1)) == iota(5));
  CHECK_THROWS_AS(reader::shuffle(0), lamina::error);
}

TEST_CASE("the order of shuffle is the same on every machine", "[reader]") {
  CHECK(read(iota(10) | reader::shuffle(10)) == std::vector{8, 7, 6, 0, 5, 3, 2, 1, 9, 4});
  CHECK(read(iota(10) | reader::shuffle(10, 42), 3) == std::vector{1, 0, 7, 2, 3, 8, 5, 4, 6, 9});
}

TEST_CASE("every order of shuffle is equally likely", "[reader]") {
  // 24 orders of 4 elements, 24,000 passes: chi-square with 23 degrees of freedom stays below 49.7
  // with probability 0.999, and the seed is fixed.
  auto shuffled = iota(4) | reader::shuffle(4, 1);
  std::array<int, 256> count{};
  for (std::uint64_t pass = 0; pass < 24000; ++pass) {
    unsigned code = 0;
    for (int x : reader::begin_pass(shuffled, pass)) code = code * 4 + static_cast<unsigned>(x);
    ++count[code];
  }
  double chi_square = 0;
  int orders = 0;
  for (int c : count)
    if (c > 0) ++orders, chi_square += (c - 1000.0) * (c - 1000.0) / 1000.0;
  CHECK(orders == 24);
  CHECK(chi_square < 49.7);
}

TEST_CASE("chain reads one reader after another", "[reader]") {
  CHECK(read(reader::chain(
            iota(2), [] { return std::vector{9}; }, std::vector<int>{}, iota(3))) ==
        std::vector{0, 1, 9, 0, 1, 2});
  CHECK(read(reader::chain(std::vector{1}, endless) | reader::first_n(3)) == std::vector{1, 0, 1});
  CHECK(read(reader::chain(std::vector{1}, std::vector{0.5})) == std::vector{1.0, 0.5});
}

TEST_CASE("compose puts tuples side by side", "[reader]") {
  auto pairs = [] { return std::vector<std::tuple<int, float>>{{1, .5f}, {2, .25f}}; };
  auto composed =
      reader::compose(iota(2), pairs, std::vector<std::pair<char, int>>{{'a', 3}, {'b', 4}},
                      std::vector<std::string>{"x", "y"});
  using expected = std::tuple<int, int, float, char, int, std::string>;
  CHECK(read(composed) ==
        std::vector<expected>{{0, 1, .5f, 'a', 3, "x"}, {1, 2, .25f, 'b', 4, "y"}});
}

TEST_CASE("compose checks that its readers end together", "[reader]") {
  CHECK_THROWS_AS(read(reader::compose(iota(2), iota(3))), reader::compose_not_aligned);
  CHECK_THROWS_WITH(
      read(reader::compose(endless, iota(3))),
      Catch::Contains("reader 2 of 2 ends after 3") && Catch::Contains("reader 1 goes on"));
  CHECK(read(reader::compose({.check_alignment = false}, iota(2), endless)).size() == 2);
  CHECK(read(reader::compose(iota(0), iota(0))).empty());
}

TEST_CASE("first_n ends a pass without asking for one element more", "[reader]") {
  int made = 0;
  auto counted = [&made]() -> lamina::generator<int> {
    for (;;) co_yield ++made;
  };
  CHECK(read(counted | reader::first_n(3)) == std::vector{1, 2, 3});
  CHECK(made == 3);
  CHECK(read(counted | reader::first_n(0)).empty());
  CHECK(made == 3);
  CHECK(read(iota(2) | reader::first_n(10)) == iota(2));
}

TEST_CASE("skip_n goes on where a pass was left", "[reader]") {
  CHECK(read(iota(5) | reader::skip_n(3)) == std::vector{3, 4});
  CHECK(read(iota(5) | reader::skip_n(0)) == iota(5));
  CHECK(read(iota(5) | reader::skip_n(6)).empty());
}

TEST_CASE("batch makes vectors and keeps or drops the last", "[reader]") {
  using batches = std::vector<std::vector<int>>;
  CHECK(read(iota(5) | reader::batch(2)) == batches{{0, 1}, {2, 3}, {4}});
  CHECK(read(iota(5) | reader::batch(2, true)) == batches{{0, 1}, {2, 3}});
  CHECK(read(iota(4) | reader::batch(2)) == batches{{0, 1}, {2, 3}});
  CHECK(read(iota(0) | reader::batch(2)).empty());
  CHECK(read(iota(1) | reader::batch(100)) == batches{{0}});
  CHECK_THROWS_AS(reader::batch(0), lamina::error);
}

TEST_CASE("cache reads its source once", "[reader]") {
  int made = 0, passes = 0;
  auto counted = [&made, &passes]() -> lamina::generator<int> {
    ++passes;
    for (int i = 0; i < 4; ++i) ++made, co_yield i;
  };
  auto cached = counted | reader::cache();
  CHECK(read(cached | reader::first_n(2)) == iota(2));
  CHECK(made == 2);
  CHECK(read(cached) == iota(4));
  const auto copy = cached;
  CHECK(read(copy, 5) == iota(4));
  CHECK(made == 4);
  CHECK(passes == 1);
  CHECK(read(endless | reader::cache() | reader::first_n(3)) == iota(3));
  // Two passes of one cache, one ahead of the other.
  auto both = endless | reader::cache();
  CHECK(read(reader::compose(both, both | reader::skip_n(2)) | reader::first_n(2)) ==
        std::vector<std::tuple<int, int>>{{0, 2}, {1, 3}});
}

TEST_CASE("cache goes on after an error of its source", "[reader]") {
  bool broken = true;
  auto source = [&broken]() -> lamina::generator<int> {
    for (int i = 0; i < 4; ++i) {
      if (i == 2 && broken) throw std::runtime_error("unplugged");
      co_yield i;
    }
  };
  auto cached = source | reader::cache();
  CHECK_THROWS_WITH(read(cached), "unplugged");
  CHECK(read(cached | reader::first_n(2)) == iota(2));
  broken = false;
  CHECK(read(cached) == iota(4));
}

TEST_CASE("decorators move elements that cannot be copied", "[reader]") {
  auto source = []() -> lamina::generator<std::unique_ptr<int>> {
    for (int i = 0; i < 6; ++i) co_yield std::make_unique<int>(i);
  };
  auto piped = source | reader::shuffle(6) | reader::first_n(5) | reader::skip_n(1) |
               reader::buffered(2) | reader::xmap([](std::unique_ptr<int> p) { return p; }) |
               reader::batch(2) | reader::map([](auto&& b) { return std::move(b); });
  std::multiset<int> seen;
  for (auto&& b : reader::begin_pass(piped))
    for (auto& p : b) seen.insert(*p);
  CHECK(seen.size() == 4);
}

TEST_CASE("decorating leaves the user's own range alone", "[reader]") {
  const std::vector<std::string> words(3, "a word longer than the small buffer");
  const auto decorated = words | reader::shuffle(2) | reader::batch(2);
  for (int i = 0; i < 2; ++i)
    for (auto&& b : reader::begin_pass(decorated))
      for (auto& w : b) CHECK(w == words[0]);
}

TEST_CASE("every decorator carries aggregates of strings and vectors", "[reader]") {
  struct document {
    std::string title;
    std::vector<int> words;
  };
  auto source = []() -> lamina::generator<document> {
    for (int i = 0;; ++i) co_yield {std::string(40, 'x'), std::vector<int>(8, i)};
  };
  auto same = [](auto&& d) { return document(std::forward<decltype(d)>(d)); };
  auto r = reader::chain(source, source) | reader::cache() | reader::shuffle(4) |
           reader::map(same) | reader::xmap(same, 2, 3) | reader::buffered(2) | reader::skip_n(1) |
           reader::first_n(9) | reader::batch(4);
  for (int pass = 0; pass < 2; ++pass) {
    std::size_t count = 0;
    for (auto&& b : reader::begin_pass(r))
      for (auto& d : b) {
        CHECK(d.title == std::string(40, 'x'));
        CHECK(d.words.size() == 8);
        ++count;
      }
    CHECK(count == 9);
  }
}

TEST_CASE("flags can be read too", "[reader]") {
  const auto batches = read(std::vector<bool>{true, false, true} | reader::shuffle(1) |
                            reader::buffered(1) | reader::batch(2));
  CHECK(batches == std::vector<std::vector<bool>>{{true, false}, {true}});
}

TEST_CASE("the pipe of the design gives passes to an endless reader", "[reader]") {
  auto pipe = synthetic | reader::shuffle(1000) | reader::batch(32) | reader::buffered(8) |
              reader::first_n(100);
  std::set<float> seen;
  int batches = 0;
  for (auto&& minibatch : reader::begin_pass(pipe)) {
    REQUIRE(minibatch.size() == 32);
    for (auto [x, y] : minibatch) {
      CHECK(y == 2 * x + 1);
      seen.insert(x);
    }
    ++batches;
  }
  CHECK(batches == 100);
  CHECK(seen.size() == 3200);
}

TEST_CASE("adaptors join to a preparation of their own", "[reader]") {
  const auto prepare = reader::shuffle(10) | reader::batch(3) | reader::first_n(2);
  CHECK(read(iota(10) | prepare) ==
        read(iota(10) | reader::shuffle(10) | reader::batch(3) | reader::first_n(2)));
  CHECK(read(prepare(iota(10))) == read(iota(10) | prepare));
}

TEST_CASE("pass and position reproduce the stream", "[reader]") {
  // The source numbers its passes, so a decorator that loses the number is found.
  auto source = [](std::uint64_t pass) -> lamina::generator<int> {
    for (int i = 0; i < 50; ++i) co_yield static_cast<int>(pass) * 1000 + i;
  };
  auto doubled = [](int x) { return 2 * x; };
  auto r = reader::chain(source, source | reader::skip_n(3)) | reader::map(doubled) |
           reader::shuffle(64, 5) | reader::xmap(doubled, 3, 4) | reader::buffered(3) |
           reader::first_n(90) | reader::batch(7);
  auto zipped = reader::compose(reader::map([](int a, int b) { return a - b; }, source, source), r);
  for (std::uint64_t pass = 0; pass < 3; ++pass) {
    const auto whole = read(r, pass);
    REQUIRE(whole.size() == 13);
    for (auto& b : whole)
      for (int x : b) CHECK(x / 4000 == static_cast<int>(pass));
    CHECK(read(r, pass) == whole);
    for (std::size_t b : {0u, 1u, 6u, 13u})
      CHECK(read(r | reader::skip_n(b), pass) ==
            std::vector<std::vector<int>>(whole.begin() + static_cast<std::ptrdiff_t>(b),
                                          whole.end()));
    CHECK_THROWS_AS(read(zipped, pass), reader::compose_not_aligned);
  }
  CHECK(read(r, 1) != read(r, 2));
}
