// SPDX-License-Identifier: Apache-2.0
// LeNet and nothing else: what an executable with a static evaluator of images needs.
#include <algorithm>

#include <lamina/layers/data.hpp>
#include <lamina/layers/simple_img_conv_pool.hpp>
#include <lamina/model/static_evaluator.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>

namespace layer = lamina::layer;
using lamina::activation;

constexpr auto net = lamina::program([](lamina::block& main) {
  constexpr lamina::window half{.stride = 2};
  auto image = layer::data<"image", float, 1, 28, 28>(main);
  auto c1 = layer::simple_img_conv_pool<20, 5, 2, half>(image, {.act = activation::relu});
  auto c2 = layer::simple_img_conv_pool<50, 5, 2, half>(c1, {.act = activation::relu});
  auto hidden = layer::fc<500>(c2, {.act = activation::relu});
  return layer::fc<10>(hidden, {.name = "logits"});
});

static lamina::static_evaluator<decltype(net)> state;
static const float weights[decltype(state)::parameter_elements] = {};

int main(int count, char**) {
  state.load(weights);
  std::ranges::fill(state.input<"image">(), static_cast<float>(count));
  state.forward();
  return std::ranges::max(state.activation<"logits">()) > 1;
}
