// SPDX-License-Identifier: Apache-2.0
// The decorators of v2 are those of lamina::reader, called as functions of a reader.
#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "reader/read.hpp"
#include <catch2/catch.hpp>

#include <lamina/v2/reader.hpp>

namespace paddle = lamina::v2;
using test::iota;
using test::read;

TEST_CASE("each decorator of v2 gives what lamina's gives") {
  const auto ten = iota(10);
  CHECK(read(paddle::reader::firstn(test::endless, 3)) == iota(3));
  CHECK(read(paddle::reader::chain(iota(2), iota(3))) == std::vector{0, 1, 0, 1, 2});
  CHECK(read(paddle::reader::map_readers([](int a, int b) { return a * b; }, ten, iota(4))) ==
        std::vector{0, 1, 4, 9});
  CHECK(read(paddle::reader::buffered(ten, 3)) == ten);
  CHECK(read(paddle::reader::cache(ten)) == ten);
  const auto squares = [](int x) { return x * x; };
  CHECK(read(paddle::reader::xmap_readers(squares, ten, 3, 4, true)) ==
        read(paddle::reader::map_readers(squares, ten)));
  auto found = read(paddle::reader::xmap_readers(squares, ten, 3, 4));
  std::sort(found.begin(), found.end());
  CHECK(found == read(paddle::reader::map_readers(squares, ten)));
  CHECK(read(paddle::batch(ten, 4)) ==
        std::vector<std::vector<int>>{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}});
  CHECK(read(paddle::batch(ten, 4, true)).size() == 2);
}

TEST_CASE("compose puts elements side by side, and says where readers are not aligned") {
  using tuple = std::tuple<int, int, int>;
  const std::vector<std::tuple<int, int>> pairs{{1, 2}, {3, 4}};
  CHECK(read(paddle::reader::compose(pairs, iota(2))) == std::vector<tuple>{{1, 2, 0}, {3, 4, 1}});
  CHECK_THROWS_AS(read(paddle::reader::compose(iota(3), iota(2))),
                  paddle::reader::ComposeNotAligned);
  CHECK(read(paddle::reader::compose({.check_alignment = false}, iota(3), iota(2))).size() == 2);
}

TEST_CASE("shuffle draws by the seed of init, another order in each pass") {
  const auto shuffled = paddle::reader::shuffle(iota(50), 20);
  CHECK(read(shuffled, 0) == read(iota(50) | lamina::reader::shuffle(20, 1), 0));
  CHECK(read(shuffled, 1) != read(shuffled, 0));
  paddle::init({.seed = 9});
  CHECK(read(paddle::reader::shuffle(iota(50), 20), 0) ==
        read(iota(50) | lamina::reader::shuffle(20, 9), 0));
  paddle::init();
  CHECK(read(paddle::reader::shuffle(iota(50), 20), 0) == read(shuffled, 0));
}
