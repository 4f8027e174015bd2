// SPDX-License-Identifier: Apache-2.0
// steady_seconds never goes back.
#include <catch2/catch.hpp>

#include <lamina/core/threads/steady_seconds.hpp>

TEST_CASE("the steady clock goes on and never back") {
  const double begin = lamina::steady_seconds();
  double before = begin, now = begin;
  for (int i = 0; i < 1000; ++i) {
    now = lamina::steady_seconds();
    REQUIRE(now >= before);
    before = now;
  }
  while (now == begin) now = lamina::steady_seconds();
  CHECK(now > begin);
}
