// SPDX-License-Identifier: Apache-2.0
// first_n: the beginning of a pass.
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
