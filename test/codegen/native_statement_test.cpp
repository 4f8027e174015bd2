// SPDX-License-Identifier: Apache-2.0
// Statements with marks around names.
#include <catch2/catch.hpp>

#include <lamina/codegen/native_statement.hpp>

using lamina::detail::native_statement;

namespace {

std::string id(const char* name) { return native_statement::identifier(name); }

}  // namespace

TEST_CASE("native statement: words are found with what they are, and replaced") {
  const native_statement s{"auto " + id("y") + " = layer::fc<3>(" + id("x") +
                           ", {.name = " + native_statement::name("a \"b\"") + "});"};
  CHECK(s.lines(2) == "  auto y = layer::fc<3>(x, {.name = \"a \\\"b\\\"\"});\n");
  std::vector<std::string> found;
  s.each_word([&](char mark, std::string_view word, bool is_made) {
    found.push_back(std::string(word) + (mark == native_statement::name_mark ? " name" : "") +
                    (is_made ? " made" : ""));
  });
  CHECK(found == std::vector<std::string>{"y made", "x", "\"a \\\"b\\\"\" name"});
  CHECK(s.with_words([](char mark, std::string_view word) {
           return mark == native_statement::name_mark ? std::string("n") : std::string(word) + "_";
         }).text == "auto y_ = layer::fc<3>(x_, {.name = n});");
}

TEST_CASE("native statement: a body is indented, and its block is made there") {
  native_statement loop{"layer::record_block<lamina::operators::while_block>(" + id("main") +
                        ", [&](lamina::block& " + id("body_1") + ") {"};
  loop.body = {{"layer::increment(" + id("i") + ");"}};
  loop.end = "});";
  CHECK(loop.lines(0) ==
        "layer::record_block<lamina::operators::while_block>(main, [&](lamina::block& body_1) {\n"
        "  layer::increment(i);\n});\n");
  std::string made;
  loop.each_word([&](char, std::string_view word, bool is_made) {
    if (is_made) made += word;
  });
  CHECK(made == "body_1");
}
