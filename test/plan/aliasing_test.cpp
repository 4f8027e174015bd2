// SPDX-License-Identifier: Apache-2.0
// Results that have the elements of an operand share its memory.
#include <vector>

#include "program/user_operators.hpp"
#include <catch2/catch.hpp>

#include <lamina/plan/aliasing.hpp>

using user_operators::in_place;
using user_operators::on_threads;
using user_operators::same;
using user_operators::same_alias;

TEST_CASE("an operator of a user's own whose result has its operand's elements shares its memory") {
  const std::vector<float> copied = on_threads<same>(5);
  CHECK_FALSE(in_place);
  CHECK(on_threads<same_alias>(5) == copied);
  CHECK(in_place);
}
