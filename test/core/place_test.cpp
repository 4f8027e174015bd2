// SPDX-License-Identifier: Apache-2.0
// place: the CPU by default, devices by number.
#include <catch2/catch.hpp>

#include <lamina/core/place.hpp>

TEST_CASE("a place is the CPU unless it says otherwise") {
  constexpr lamina::place p;
  STATIC_REQUIRE(p.kind == lamina::place_kind::cpu);
  STATIC_REQUIRE(p.number == 0);
  STATIC_REQUIRE(!lamina::typed_place<lamina::place>);
  // Without lamina.cuh a translation unit can train on the CPU alone.
  STATIC_REQUIRE(__is_same(lamina::places, lamina::host_places));
}
