// SPDX-License-Identifier: Apache-2.0
// Operators of training that no call of minimize has recorded are refused.
#include <string>

#include <catch2/catch.hpp>
#include <codegen/same_program.hpp>

#include <lamina/codegen/native_source.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/minimize.hpp>
#include <lamina/optimizer/sgd.hpp>

namespace layer = lamina::layer;
using Catch::Contains;

namespace {

constexpr auto trained = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto cost = layer::mean(layer::fc<2>(x));
  lamina::optimizer::sgd{.learning_rate = 0.5f}.minimize(cost);
  return layer::scale(cost, 2);
});

std::string refusal(const lamina::program_message& m) {
  try {
    return "written: " + lamina::native_source(lamina::loaded_program(m, "m"));
  } catch (const lamina::format_error& e) {
    return e.what();
  }
}

}  // namespace

TEST_CASE("minimize groups: a call of minimize is found between other operators") {
  const std::string text = refusal(same_program::as_saved(trained.view()));
  CHECK_THAT(text, Contains("  lamina::optimizer::sgd{.learning_rate = 0.5f}.minimize(mean_0);\n"
                            "  auto scale_0 = layer::scale(mean_0, 2);\n"));
}

TEST_CASE("minimize groups: parts of a call are refused") {
  const lamina::program_message m = same_program::as_saved(trained.view());
  const auto without = [&](auto&& drops) {
    lamina::program_message made = m;
    std::erase_if(made.blocks[0].operators, drops);
    return refusal(made);
  };
  const auto role = [](const lamina::operator_message& op) {
    const lamina::attribute_message* a = op.attribute("op_role");
    return a == nullptr ? 0 : a->integer;
  };
  CHECK_THAT(without([](const auto& op) { return op.type == "sgd"; }),
             Contains("expected updates of parameters after the gradients of a cost, found an "
                      "operator of training without them"));
  CHECK_THAT(
      without([&](const auto& op) { return role(op) == 257; }),
      Contains("expected gradients between that of a cost and the updates, found an operator "
               "of training elsewhere"));
  CHECK_THAT(
      without([&](const auto& op) { return role(op) == 257 || role(op) == 1; }),
      Contains("expected gradients of a cost before it, found an operator of training alone"));
  // One update that is not there belongs to a choice of parameters.
  bool first = true;
  CHECK_THAT(without([&](const auto& op) {
               const bool drops = op.type == "sgd" && first;
               first = first && op.type != "sgd";
               return drops;
             }),
             Contains("as minimize records it") || Contains("which minimize records"));
}
