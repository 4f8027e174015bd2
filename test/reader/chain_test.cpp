// SPDX-License-Identifier: Apache-2.0
// chain: readers one after another.
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

TEST_CASE("chain reads one reader after another", "[reader]") {
  CHECK(read(reader::chain(
            iota(2), [] { return std::vector{9}; }, std::vector<int>{}, iota(3))) ==
        std::vector{0, 1, 9, 0, 1, 2});
  CHECK(read(reader::chain(std::vector{1}, endless) | reader::first_n(3)) == std::vector{1, 0, 1});
  CHECK(read(reader::chain(std::vector{1}, std::vector{0.5})) == std::vector{1.0, 0.5});
}
