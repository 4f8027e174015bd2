// SPDX-License-Identifier: Apache-2.0
// Repeated runs of statements become functions.
#include <catch2/catch.hpp>

#include <lamina/codegen/native_repeats.hpp>

using Catch::Contains;
using lamina::detail::native_repeats;
using lamina::detail::native_statement;

namespace {

// "auto $y = f($x, "a");": C++ names begin with $, and all literals are names.
native_statement statement(const std::string& text) {
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '$') {
      std::size_t end = i + 1;
      while (end < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_'))
        ++end;
      made += native_statement::identifier(text.substr(i + 1, end - i - 1));
      i = end - 1;
    } else if (text[i] == '"') {
      const std::size_t end = text.find('"', i + 1);
      made += native_statement::name(text.substr(i + 1, end - i - 1));
      i = end;
    } else {
      made += text[i];
    }
  }
  native_statement s{made};
  s.is_last = text.starts_with("return");
  return s;
}

struct shortened {
  std::string functions, body;
};
shortened of(const std::vector<std::string>& lines, bool has_bodies = false) {
  std::vector<native_statement> all;
  std::set<std::string> taken;
  for (const std::string& line : lines) {
    all.push_back(statement(line));
    all.back().each_word([&](char mark, std::string_view word, bool) {
      if (mark == native_statement::identifier_mark) taken.insert(std::string(word));
    });
  }
  native_repeats repeats("net_block", taken, has_bodies);
  shortened made;
  for (const native_statement& s : repeats.shortened(all)) made.body += s.lines(0);
  made.functions = repeats.functions();
  return made;
}

std::vector<std::string> tower(int blocks) {
  std::vector<std::string> lines{"auto $h0 = data($main);"};
  for (int i = 0; i < blocks; ++i) {
    const std::string n = std::to_string(i), next = std::to_string(i + 1);
    lines.push_back("auto $a_" + n + " = fc($h" + n + ", \"block_" + n + ".in\");");
    lines.push_back("auto $b_" + n + " = relu($a_" + n + ");");
    lines.push_back("auto $c_" + n + " = fc($b_" + n + ", \"block_" + n + ".out\");");
    lines.push_back("auto $h" + next + " = add($h" + n + ", $c_" + n + ");");
  }
  lines.push_back("return $h" + std::to_string(blocks) + ";");
  return lines;
}

}  // namespace

TEST_CASE("native repeats: a tower is one function and its calls") {
  const shortened made = of(tower(12));
  CHECK(made.functions ==
        "// Called 12 times.\n"
        "constexpr auto net_block(const auto& x, int i) {\n"
        "  namespace layer = lamina::layer;\n"
        "  auto a = fc(x, lamina::indexed(\"block\", i, \"in\"));\n"
        "  auto b = relu(a);\n"
        "  auto c = fc(b, lamina::indexed(\"block\", i, \"out\"));\n"
        "  auto h1 = add(x, c);\n"
        "  return h1;\n"
        "}\n\n");
  CHECK_THAT(made.body, Contains("auto h1 = net_block(h0, 0);\nauto h2 = net_block(h1, 1);\n"));
  CHECK_THAT(made.body, Contains("auto h12 = net_block(h11, 11);\nreturn h12;\n"));
}

TEST_CASE("native repeats: what is not equal stays as it is") {
  CHECK(of(tower(1)).functions.empty());
  CHECK(of(tower(2)).functions.empty());  // it would save no line
  // The second half reads the input of the first in place of its own.
  std::vector<std::string> lines;
  for (const char* n : {"0", "1", "2", "3", "4", "5"}) {
    const std::string i = n, other = i == "0" ? "a0" : "a" + std::to_string(n[0] - '1');
    lines.push_back("auto $a" + i + " = one($x);");
    lines.push_back("auto $b" + i + " = two($a" + i + ");");
    lines.push_back("auto $c" + i + " = three($b" + i + ", $" + (n[0] % 2 == 0 ? "a" + i : other) +
                    ");");
    lines.push_back("auto $d" + i + " = four($c" + i + ");");
  }
  lines.push_back("return $d5;");
  const shortened made = of(lines);
  CHECK_THAT(made.functions, Contains("// Called 3 times.\n"));
  CHECK_THAT(made.functions, Contains("three(b0, a0)") && Contains("three(b1, a0)"));
}

TEST_CASE("native repeats: several results and blocks") {
  std::vector<std::string> lines;
  for (const char* n : {"0", "1", "2", "3"}) {
    const std::string i = n;
    lines.push_back("auto [$a" + i + ", $b" + i + "] = lstm($x, \"tower_a_" + i + "\");");
    lines.push_back("auto $k" + i + " = constant($main, 3);");
    lines.push_back("auto $c" + i + " = one($a" + i + ", $k" + i + ");");
    lines.push_back("auto $d" + i + " = two($b" + i + ", $k" + i + ");");
    lines.push_back("auto $e" + i + " = two($d" + i + ", $shared);");
  }
  lines.push_back("return {$c0, $c1, $c2, $c3, $e0, $e1, $e3};");
  const shortened made = of(lines);
  CHECK_THAT(made.functions,
             Contains("net_block(const auto& x, lamina::block& main, const auto& y, int i) {") &&
                 Contains("return std::tuple{c0, e0};"));
  CHECK_THAT(made.body, Contains("auto [c2, e2] = net_block(x, main, shared, 2);\n"));
  const shortened apart = of(lines, true);
  CHECK_THAT(apart.body, Contains("auto c2_all = net_block(x, main, shared, 2);\n"
                                  "auto c2 = std::get<0>(c2_all);\nauto c3_all"));
}

TEST_CASE("native repeats: functions call functions") {
  std::vector<std::string> lines;
  const auto norm = [&](const std::string& y, const std::string& x) {
    lines.push_back("auto $m_" + y + " = mean($" + x + ");");
    lines.push_back("auto $s" + y + " = sub($" + x + ", $m_" + y + ");");
    lines.push_back("auto $v" + y + " = square($s" + y + ");");
    lines.push_back("auto $r" + y + " = rsqrt($v" + y + ");");
    lines.push_back("auto $" + y + " = mul($s" + y + ", $r" + y + ");");
  };
  for (int i = 0; i < 3; ++i) {
    const std::string n = std::to_string(i);
    norm("a" + n, "x" + n);
    lines.push_back("auto $b" + n + " = attention($a" + n + ");");
    norm("c" + n, "b" + n);
    lines.push_back("auto $d" + n + " = mixed($c" + n + ");");
    norm("e" + n, "d" + n);
    lines.push_back("auto $x" + std::to_string(i + 1) + " = add($x" + n + ", $e" + n + ");");
  }
  lines.push_back("return $x3;");
  const shortened made = of(lines);
  CHECK_THAT(made.functions, Contains("// Called 3 times.\nconstexpr auto net_block_2(") &&
                                 Contains("  auto a0 = net_block_2(x);\n"));
  CHECK(made.functions.find("auto net_block_2(") < made.functions.find("auto net_block("));
  CHECK_THAT(made.body, Contains("auto x1 = net_block(x0);\nauto x2 = net_block(x1);"));
}

TEST_CASE("native repeats: a function inside of another gets the numbers of its names") {
  std::vector<std::string> lines{"auto $h0 = data($main);"};
  int h = 0;
  for (int layer = 0; layer < 3; ++layer) {
    const std::string of = "\"w_" + std::to_string(layer);
    const auto step = [&](const std::string& text) {
      lines.push_back("auto $h" + std::to_string(h + 1) + " = " + text + "($h" + std::to_string(h) +
                      ", " + of + ".in\");");
      ++h;
    };
    step("first");
    for (int i = 0; i < 6; ++i)
      for (const char* name : {"fc", "relu", "norm", "abs"}) step(name);
    step("last");
  }
  lines.push_back("return $h" + std::to_string(h) + ";");
  const shortened made = of(lines);
  CHECK_THAT(made.functions,
             Contains("constexpr auto net_block_2(const auto& x, const auto& y) {") &&
                 Contains("fc(x, lamina::indexed(\"w\", y, \"in\"))") &&
                 Contains("constexpr auto net_block(const auto& x, int i) {") &&
                 Contains("= net_block_2(h1, i);"));
}
