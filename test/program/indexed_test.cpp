// SPDX-License-Identifier: Apache-2.0
// Names of layers in a loop, at compile time and at run time.

#include <limits>
#include <string>
#include <string_view>

#include <catch2/catch.hpp>

#include <lamina/program/indexed.hpp>

using lamina::indexed;

TEST_CASE("an indexed name is prefix, number and part") {
  static_assert(std::string_view(indexed("block", 0)) == "block_0");
  static_assert(std::string_view(indexed("block", 12, "first")) == "block_12.first");
  static_assert(std::string_view(indexed("", 7)) == "_7");
  for (const int i : {0, 9, 10, 12345, std::numeric_limits<int>::max()})
    CHECK(std::string(std::string_view(indexed("b", i, "p"))) == "b_" + std::to_string(i) + ".p");
}
