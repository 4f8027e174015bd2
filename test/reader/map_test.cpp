// SPDX-License-Identifier: Apache-2.0
// map: a function of the elements of one or several readers.
#include <string>
#include <vector>

#include "reader/read.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
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
