// SPDX-License-Identifier: Apache-2.0
// The same LSTM of 64 with its weights as bfloat16: what that adds.
#include <algorithm>

#include <lamina/layers/data.hpp>
#include <lamina/layers/fc.hpp>
#include <lamina/layers/lstm_unit.hpp>
#include <lamina/model/static_bfloat16.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 1>(main);
  auto hidden = layer::data<"hidden", float, 64>(main);
  auto cell = layer::data<"cell", float, 64>(main);
  auto [next_hidden, next_cell] = layer::lstm_unit(x, hidden, cell, {.name = "lstm"});
  return std::tuple{layer::fc<1>(next_hidden, {.name = "y"}), next_hidden, next_cell};
});

static lamina::static_evaluator<decltype(net), 1, lamina::storage::bfloat16> state;
static const float weights[decltype(state)::parameter_elements] = {};

int main(int count, char**) {
  state.load(weights);
  for (int i = 0; i < count; ++i) {
    state.input<"x">()[0] = static_cast<float>(i);
    state.forward();
    std::ranges::copy(state.activation<"lstm">(), state.input<"hidden">().begin());
    std::ranges::copy(state.activation<"lstm.tmp_0">(), state.input<"cell">().begin());
  }
  return state.activation<"y">()[0] > 1;
}
