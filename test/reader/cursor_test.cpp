// SPDX-License-Identifier: Apache-2.0
// cursor: a pass read step by step.

#include "reader/read.hpp"
#include <catch2/catch.hpp>

#include <lamina/reader/begin_pass.hpp>
#include <lamina/reader/cursor.hpp>

namespace reader = lamina::reader;

TEST_CASE("a cursor reads nothing ahead and stays at the end", "[reader]") {
  int made = 0;
  auto counted = [&made]() -> lamina::generator<int> {
    for (int i = 0; i < 2; ++i) {
      ++made;
      co_yield i;
    }
  };
  reader::cursor cursor(reader::share(counted), 0);
  CHECK(made == 0);
  REQUIRE(cursor.next());
  CHECK(made == 1);
  CHECK(cursor.take() == 0);
  REQUIRE(cursor.next());
  CHECK(made == 2);
  CHECK(cursor.take() == 1);
  CHECK(!cursor.next());
  CHECK(!cursor.next());
}
