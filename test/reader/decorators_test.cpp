// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "reader/read.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/error.hpp>
#include <lamina/reader/batch.hpp>
#include <lamina/reader/chain.hpp>
#include <lamina/reader/compose.hpp>
#include <lamina/reader/first_n.hpp>
#include <lamina/reader/map.hpp>
#include <lamina/reader/skip_n.hpp>

namespace reader = lamina::reader;
using test::endless;
using test::iota;
using test::read;

TEST_CASE("map applies a function to each element", "[reader]") {
  CHECK(read(iota(4) | reader::map([](int x) { return x * x; })) == std::vector{0, 1, 4, 9});
  CHECK(read(iota(2) | reader::map([](int x) { return std::to_string(x); })) ==
        std::vector<std::string>{"0", "1"});
}

TEST_CASE("map takes pointers to members", "[reader]") {
  struct point {
    int x;
    int twice() const { return 2 * x; }
  };
  const std::vector<point> points = {{3}, {4}};
  CHECK(read(points | reader::map(&point::x)) == std::vector{3, 4});
  CHECK(read(points | reader::map(&point::twice)) == std::vector{6, 8});
  CHECK(lamina::invoke(&point::x, &points[1]) == 4);
  CHECK(lamina::invoke(&point::twice, &points[1]) == 8);
}

TEST_CASE("map zips several readers and stops with the shortest", "[reader]") {
  auto sum = reader::map([](int a, int b, double c) { return a + b + c; }, endless, iota(3),
                         std::vector{0.5, 1.5, 2.5, 3.5});
  CHECK(read(sum) == std::vector{0.5, 3.5, 6.5});
  CHECK(read(sum) == std::vector{0.5, 3.5, 6.5});
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
