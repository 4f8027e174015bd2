// SPDX-License-Identifier: Apache-2.0
// batch: mini-batches as vectors.
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
using test::iota;
using test::read;

TEST_CASE("batch makes vectors and keeps or drops the last", "[reader]") {
  using batches = std::vector<std::vector<int>>;
  CHECK(read(iota(5) | reader::batch(2)) == batches{{0, 1}, {2, 3}, {4}});
  CHECK(read(iota(5) | reader::batch(2, true)) == batches{{0, 1}, {2, 3}});
  CHECK(read(iota(4) | reader::batch(2)) == batches{{0, 1}, {2, 3}});
  CHECK(read(iota(0) | reader::batch(2)).empty());
  CHECK(read(iota(1) | reader::batch(100)) == batches{{0}});
  CHECK_THROWS_AS(reader::batch(0), lamina::error);
}
