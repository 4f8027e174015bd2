// SPDX-License-Identifier: Apache-2.0
// Names with a part that differs.
#include <catch2/catch.hpp>

#include <lamina/program/composed_name.hpp>

TEST_CASE("composed name: a number or a text between two texts") {
  const auto text = [](const lamina::composed_name& name) {
    return std::string(std::string_view(name));
  };
  CHECK(text({"layer_", 12, "_ffn.w_0"}) == "layer_12_ffn.w_0");
  CHECK(text({"", 0, ""}) == "0");
  CHECK(text({"res2", "b", ".w_0"}) == "res2b.w_0");
  CHECK(text({"", "", ""}).empty());
  static_assert([] {
    const lamina::composed_name name("a", 7, "b");
    return std::string_view(name) == "a7b";
  }());
}
