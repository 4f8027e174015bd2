// SPDX-License-Identifier: Apache-2.0
// fixed_buffer fills an array of the caller and says when it is full.
#include <catch2/catch.hpp>

#include <lamina/core/compile_time/fixed_buffer.hpp>

TEST_CASE("a fixed_buffer fills the caller's array and counts in the caller's number") {
  int items[4] = {9}, used = 1;
  lamina::fixed_buffer<int, 4> b(items, used);
  CHECK(b.push(5) == 1);
  CHECK(b.take(2) == 2);
  CHECK(used == 4);
  CHECK(!b.full);
  CHECK((items[0] == 9 && items[1] == 5));
}

TEST_CASE("a full fixed_buffer says so and writes nothing beyond its array") {
  int items[3] = {0, 0, 77}, used = 0;
  int(&first)[2] = reinterpret_cast<int(&)[2]>(items);
  lamina::fixed_buffer<int, 2> b(first, used);
  CHECK(b.take(3) == 0);
  CHECK(b.full);
  CHECK(used == 0);
  b.full = false;
  for (int i = 0; i < 3; ++i) b.push(i);
  CHECK(b.full);
  CHECK(used == 2);
  CHECK(items[2] == 77);
}
