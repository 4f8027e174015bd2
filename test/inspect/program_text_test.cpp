// SPDX-License-Identifier: Apache-2.0
// Programs as listings and pictures.
#include "io/program_samples.hpp"
#include <catch2/catch.hpp>

#include <lamina/inspect/program_text.hpp>
#include <lamina/transform/append_backward.hpp>

using Catch::Contains;

TEST_CASE("text: blocks, variables, operators") {
  const std::string text = lamina::to_string(samples::loop);
  CHECK_THAT(text, Contains("block 0\n") && Contains("\nblock 1 in block 0\n"));
  CHECK_THAT(text, Contains("  x: float32 [-1, 3], fed\n"));
  CHECK_THAT(text, Contains("  fc_0.w_0: float32 [3, 3], parameter\n"));
  CHECK_THAT(text, Contains("<- while(") && Contains("sub_block: block 1"));
  CHECK_THAT(text, Contains("Out=tanh_0.tmp_0 <- tanh(X=fc_0.tmp_1)\n"));
  CHECK_THAT(lamina::to_string(samples::sentence),
             Contains("words: int64 [-1, 1], sequences of 1 levels, fed\n"));
  CHECK_THAT(lamina::to_string(samples::perceptron),
             Contains("<- dropout(X=fc_0.tmp_2) {dropout_prob: 0.25, "));
}

TEST_CASE("dot: every operator is a box, braces match, names with quotes are escaped") {
  const auto check = [](const lamina::program_message& p) {
    const std::string dot = lamina::to_dot(p);
    int depth = 0, boxes = 0;
    std::size_t operators = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < dot.size(); ++i) {
      if (dot[i] == '"' && dot[i - 1] != '\\') quoted = !quoted;
      if (quoted) continue;
      depth += dot[i] == '{' ? 1 : dot[i] == '}' ? -1 : 0;
      boxes += dot.compare(i, 9, "shape=box") == 0;
      CHECK(depth >= 0);
    }
    for (const lamina::block_message& b : p.blocks) operators += b.operators.size();
    CHECK(depth == 0);
    CHECK(!quoted);
    CHECK(static_cast<std::size_t>(boxes) == operators);
    return dot;
  };
  CHECK_THAT(check(lamina::to_program_message(samples::loop)),
             Contains("subgraph cluster_1") && Contains("label=\"while: block 1\""));
  check(lamina::to_program_message(samples::sentence));
  check(lamina::to_program_message(lamina::transform::append_backward(samples::loop)));
  lamina::program_message p;
  lamina::variable_message& v = p.blocks.emplace_back().variables.emplace_back();
  v.name = "a\"b\\";
  lamina::operator_message& op = p.blocks[0].operators.emplace_back();
  op.type = "scale";
  op.inputs.push_back({"X", {v.name}});
  CHECK_THAT(check(p), Contains("\"a\\\"b\\\\\""));
}
