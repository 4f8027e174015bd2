// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "reader/read.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/reader/shuffle.hpp>

namespace reader = lamina::reader;
using test::iota;
using test::read;

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
