// SPDX-License-Identifier: Apache-2.0
// Whatever names and numbers a file has, the text stays C++ of the same meaning.
#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

#include <lamina/codegen/cpp_text.hpp>

using namespace lamina::detail;

TEST_CASE("C++ text: names of files inside of quotes, comments and identifiers") {
  CHECK(text_literal("fc_0.w_0") == R"("fc_0.w_0")");
  CHECK(text_literal("a\"b\\c\n?" + std::string(1, '\0') + "1") == R"("a\"b\\c\012\077\0001")");
  CHECK(text_literal("\xc3\xa4") == "\"\xc3\xa4\"");
  CHECK(in_comment("a\nint x;\\\r") == "a?int x;??");
  CHECK(identifier_of("fc_0.tmp_1") == "fc_0_tmp_1");
  CHECK(identifier_of("my fc/2@GRAD__x") == "my_fc_2_GRAD_x");
  CHECK(identifier_of("0") == "v0");
  CHECK(identifier_of("_x") == "v_x");
  CHECK(identifier_of("/layers.0/Add_1") == "layers_0_Add_1");
  CHECK(identifier_of("") == "v");
  CHECK(identifier_of("\xc3\xa4") == "v_");
  for (const char* word : {"class", "main", "layer", "and", "co_await", "std"})
    CHECK(identifier_of(word) == std::string(word) + "_");
}

TEST_CASE("C++ text: numbers are read back unchanged") {
  CHECK(number_text(0.1f) == "0.1f");
  CHECK(number_text(0.1) == "0.1");
  CHECK(number_text(-3) == "-3");
  CHECK(number_text(1e-5f) == "1e-05f");
  CHECK(number_text(16777217.0) == "16777217.0");
  CHECK(number_text(1e20f) == "1e+20f");
  CHECK(number_text(-0.0) == "-0.0f");
  CHECK(number_text(std::numeric_limits<double>::infinity()) ==
        "std::numeric_limits<float>::infinity()");
  CHECK(number_text(-std::numeric_limits<double>::infinity()) ==
        "-std::numeric_limits<float>::infinity()");
  CHECK(number_text(std::nan("")) == "std::numeric_limits<float>::quiet_NaN()");
}

TEST_CASE("C++ text: a line without a comma that fits ends behind a bracket") {
  const std::string name(80, 'x');
  CHECK(wrapped("f" + name + "(a" + name + ", y);", 2) ==
        "  f" + name + "(\n      a" + name + ", y);\n");
  CHECK(wrapped("f{" + name + "{.a = 1, .b = 2, .c = 3}};", 2) ==
        "  f{" + name + "{.a = 1, .b = 2,\n      .c = 3}};\n");
}

TEST_CASE("C++ text: lines end behind commas that are outside of texts") {
  const std::string part(60, 'x');
  CHECK(wrapped("f(" + part + ", " + part + ");", 2) ==
        "  f(" + part + ",\n      " + part + ");\n");
  CHECK(wrapped("f(\"" + part + ", \\\", " + part + "\", y);", 2) ==
        "  f(\"" + part + ", \\\", " + part + "\",\n      y);\n");
  CHECK(wrapped("f(1, 2);", 4) == "    f(1, 2);\n");
}
