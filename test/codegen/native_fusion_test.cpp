// SPDX-License-Identifier: Apache-2.0
// What one layer records, and what only looks like it.
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

TEST_CASE("native fusion: a bias and an activation that something else reads stay apart") {
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 4>(main);
    auto product = layer::fc<3>(x, {.bias = false, .name = "product"});
    auto shift = layer::create_parameter<float, 3>(main, {.name = "product.b_0"});
    auto sum = layer::elementwise_add<1>(product, shift, {.name = "product"});
    auto bent = layer::leaky_relu(sum, {.alpha = 0.5f, .name = "product"});
    auto tanh = layer::tanh(layer::fc<3>(x, {.name = "h"}), {.name = "h"});
    return std::tuple{product, bent, tanh};
  });
  const std::string text = text_of(net.view());
  CHECK_THAT(text,
             Contains("auto product = layer::fc<3>(x, {.bias = false, .name = \"product\"});"));
  CHECK_THAT(text, Contains("layer::elementwise_add<1>(product, product_b_0"));
  CHECK_THAT(text, Contains("layer::leaky_relu(product_2, {.alpha = 0.5f, .name = \"product\"});"));
  CHECK_THAT(text, Contains("layer::fc<3>(x, {.act = lamina::activation::tanh, .name = \"h\"});"));
}

TEST_CASE("native fusion: fc of several inputs is a sum of their products alone") {
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 4>(main);
    auto y = layer::data<"y", float, 5>(main);
    auto both = layer::fc<3>(std::tuple{x, y}, {.act = activation::relu});
    auto first = layer::fc<3>(x, {.bias = false}), second = layer::fc<3>(y, {.bias = false});
    auto third = layer::fc<3>(x, {.bias = false, .name = "apart"});
    return std::tuple{both, layer::sum({first, second, third})};
  });
  const std::string text = text_of(net.view());
  CHECK_THAT(text, Contains("auto fc_0 = layer::fc<3>(std::tuple{x, y}, {.act = "
                            "lamina::activation::relu});"));
  CHECK_THAT(text, Contains("auto fc_1 = layer::fc<3>(x, {.bias = false});"));
  CHECK_THAT(text, Contains("auto fc_2 = layer::fc<3>(y, {.bias = false});"));
  CHECK_THAT(text, Contains("layer::sum({fc_1, fc_2, apart});"));
}
