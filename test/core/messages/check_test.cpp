// SPDX-License-Identifier: Apache-2.0
// check: the condition of a message, and facts that carry values.
#include <catch2/catch.hpp>

#include <lamina/core/messages/check.hpp>

TEST_CASE("check is its condition, whatever facts it prints") {
  STATIC_REQUIRE(lamina::check<true, lamina::expects<64>, lamina::gets<32>>);
  STATIC_REQUIRE(!lamina::check<false, lamina::gets_type<int, float>, lamina::named<'x'>>);
  STATIC_REQUIRE(!lamina::never<int>);
  STATIC_REQUIRE(__is_same(lamina::dependent<int, float>, int));
}
