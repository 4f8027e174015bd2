// SPDX-License-Identifier: Apache-2.0
// A convolution with a state and a GRU: what a program that processes sound block by block needs.
#include <tuple>

#include <lamina/layers/conv1d.hpp>
#include <lamina/layers/data.hpp>
#include <lamina/model/static_evaluator.hpp>
#include <lamina/operators/elementwise/sum/layer.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/recurrent/gru/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 1, 32>(main);
  auto past = layer::data<"past", float, 1, 8>(main);
  auto hidden = layer::data<"hidden", float, 16>(main);
  auto [h, next] = layer::conv1d_with_state<4, 3, lamina::window1{.dilation = 4}>(
      x, past, {.act = lamina::activation::tanh});
  auto [state, reset, gates] = layer::gru_unit<48>(layer::fc<48>(h), hidden);
  layer::scale(state, 1, {.name = "hidden_next"});
  return layer::fc<1>(state, {.name = "y"});
});

static lamina::static_evaluator<decltype(net)> state;
static const float weights[decltype(state)::parameter_elements] = {};

int main(int count, char**) {
  state.load(weights);
  for (int i = 0; i < count; ++i) {
    state.input<"x">()[0] = static_cast<float>(i);
    state.forward();
    state.feed_back();
  }
  return state.activation<"y">()[0] > 1;
}
