// SPDX-License-Identifier: Apache-2.0
// v2's names of activations and kinds of pooling stand for the operators of these equations.
#include <string_view>

#include <lamina/program/program.hpp>
#include <lamina/v2/layers/activation.hpp>
#include <lamina/v2/layers/layer.hpp>

namespace layer = lamina::v2::layer;
namespace activation = lamina::v2::activation;
namespace pooling = lamina::v2::pooling;

namespace {

constexpr lamina::activation each[] = {
    activation::Tanh(),     activation::Sigmoid(),   activation::Softmax(),  activation::Exp(),
    activation::Relu(),     activation::BRelu(),     activation::SoftRelu(), activation::STanh(),
    activation::Abs(),      activation::Square(),    activation::Log(),      activation::Sqrt(),
    activation::SoftSign(), activation::Reciprocal()};
constexpr std::string_view operators[] = {"tanh",  "sigmoid",   "softmax",  "exp",       "relu",
                                          "brelu", "soft_relu", "stanh",    "abs",       "square",
                                          "log",   "sqrt",      "softsign", "reciprocal"};

constexpr auto all = lamina::program([](lamina::block& main) {
  auto x = lamina::layer::data<"x", float, 4>(main);
  for (const lamina::activation act : each) x = layer::fc<4>(x, {.act = act, .bias = false});
  x = layer::fc<4>(x, {.act = activation::Linear(), .bias = false});
  return layer::fc<4>(x, {.act = activation::Identity(), .bias = false});
});

constexpr bool records_operators() {
  const auto p = all.view();
  int at = 1;  // behind the data layer: mul and the activation of each fc
  for (const std::string_view type : operators)
    if (std::string_view(p.operators[at++].schema->type) != "mul" ||
        std::string_view(p.operators[at++].schema->type) != type)
      return false;
  return p.count.operators == at + 2;
}
static_assert(records_operators());

static_assert(pooling::Max() == lamina::pooling_type::max);
static_assert(pooling::Avg() == lamina::pooling_type::average);
static_assert(pooling::Sum() == lamina::pooling_type::sum);
static_assert(pooling::SquareRootN() == lamina::pooling_type::sqrt);

}  // namespace
