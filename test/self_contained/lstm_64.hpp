// SPDX-License-Identifier: Apache-2.0
// An LSTM of 64 for audio, and steps of an evaluator of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <tuple>

#include <lamina/layers/data.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/recurrent/lstm_unit/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 1>(main);
  auto hidden = layer::data<"hidden", float, 64>(main);
  auto cell = layer::data<"cell", float, 64>(main);
  auto [next_hidden, next_cell] = layer::lstm_unit(x, hidden, cell, {.name = "lstm"});
  return std::tuple{layer::fc<1>(next_hidden, {.name = "y"}), next_hidden, next_cell};
});

template <class State, std::size_t N>
int run(State& state, const float (&weights)[N], int count) {
  state.load(weights);
  for (int i = 0; i < count; ++i) {
    state.template input<"x">()[0] = static_cast<float>(i);
    state.forward();
    std::ranges::copy(state.template activation<"lstm">(),
                      state.template input<"hidden">().begin());
    std::ranges::copy(state.template activation<"lstm.tmp_0">(),
                      state.template input<"cell">().begin());
  }
  return state.template activation<"y">()[0] > 1;
}
