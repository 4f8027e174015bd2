// SPDX-License-Identifier: Apache-2.0
// fixed_string: literals as template arguments.
#include <string_view>

#include <catch2/catch.hpp>

#include <lamina/core/compile_time/fixed_string.hpp>

namespace {

template <lamina::fixed_string Name>
constexpr std::string_view name_of() {
  return Name.view();
}

}  // namespace

TEST_CASE("a fixed_string is a template argument with the characters of its literal") {
  STATIC_REQUIRE(name_of<"image">() == "image");
  STATIC_REQUIRE(name_of<"">().empty());
  STATIC_REQUIRE(lamina::fixed_string("ab") == lamina::fixed_string("ab"));
  STATIC_REQUIRE(!(lamina::fixed_string("ab") == lamina::fixed_string("ac")));
  STATIC_REQUIRE(
      concatenated(lamina::fixed_string("image"), lamina::fixed_string("@GRAD")).view() ==
      "image@GRAD");
}
