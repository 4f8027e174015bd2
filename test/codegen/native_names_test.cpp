// SPDX-License-Identifier: Apache-2.0
// Names of layers and parameters come back, generated or not.
#include <catch2/catch.hpp>
#include <codegen/same_program.hpp>

#include <lamina/codegen/native_source.hpp>
#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using lamina::activation;

namespace {

std::string text_of(const lamina::program_view& p) {
  return lamina::native_source(lamina::loaded_program(same_program::as_saved(p)));
}

}  // namespace

TEST_CASE("native names: numbers that a pruned program lacks are written") {
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 4>(main);
    auto unread = layer::fc<3>(x);
    (void)unread;
    auto read = layer::fc<5>(x, {.bias_param = {.name = "offset"}});
    return layer::fc<2>(read, {.param = {.name = "own"}});
  });
  const lamina::program_message m = lamina::to_program_message(net.view());
  const std::string last = lamina::variable_name(net.view(), net.view().outputs[0]);
  const lamina::loaded_program pruned(lamina::inference_message(m, {"x"}, {last}));
  const std::string text = lamina::native_source(pruned);
  CHECK_THAT(text,
             Contains("auto fc_1 = layer::fc<5>(x, {.bias_param = {.name = \"offset\"}, .name "
                      "= \"fc_1\"});"));
  CHECK_THAT(text, Contains("auto fc_2 = layer::fc<2>(fc_1, {.param = {.name = \"own\"}, .name = "
                            "\"fc_2\"});"));
}

TEST_CASE("native names: C++ names are new ones, for words of C++ too") {
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto x = layer::data<"int", float, 4>(main);
    auto a = layer::scale(x, 2, {.name = "a b"}), b = layer::scale(a, 3, {.name = "a/b"});
    auto c = layer::scale(b, 4, {.name = "a_b_2"});
    return layer::scale(c, 5, {.name = "main"});
  });
  const std::string text = text_of(net.view());
  CHECK_THAT(text, Contains("auto int_ = layer::data<\"int\", float, 4>(main);"));
  CHECK_THAT(text, Contains("auto a_b = layer::scale(int_, 2, {.name = \"a b\"});"));
  CHECK_THAT(text, Contains("auto a_b_2 = layer::scale(a_b, 3, {.name = \"a/b\"});"));
  CHECK_THAT(text, Contains("auto a_b_2_2 = layer::scale(a_b_2, 4, {.name = \"a_b_2\"});"));
  CHECK_THAT(text, Contains("auto main_ = layer::scale(a_b_2_2, 5, {.name = \"main\"});"));
}
