// SPDX-License-Identifier: Apache-2.0
// skip_n: the rest of a pass.
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

TEST_CASE("skip_n goes on where a pass was left", "[reader]") {
  CHECK(read(iota(5) | reader::skip_n(3)) == std::vector{3, 4});
  CHECK(read(iota(5) | reader::skip_n(0)) == iota(5));
  CHECK(read(iota(5) | reader::skip_n(6)).empty());
}
