// SPDX-License-Identifier: Apache-2.0
// compose: the elements of several readers side by side.
#include <string>
#include <tuple>
#include <utility>
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
