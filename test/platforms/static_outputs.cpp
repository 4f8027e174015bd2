// SPDX-License-Identifier: Apache-2.0
// Prints the outputs of static evaluators; test/platforms/run.py compares them
// between processors. The program uses no heap, no files and no printf, so that it also runs on
// processors without an operating system. LAMINA_NET selects one network: 8, 16, 32 or 64 for an
// LSTM of so many units, 0 for LeNet. Weights come from a generator.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "output.hpp"

#include <lamina/layers/data.hpp>
#include <lamina/layers/simple_img_conv_pool.hpp>
#include <lamina/model/static_evaluator.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/recurrent/lstm_unit/layer.hpp>

#if !defined(LAMINA_NET)
#define LAMINA_NET 64
#endif

namespace {

namespace layer = lamina::layer;
using lamina::activation;

#if LAMINA_NET == 0
constexpr auto net = lamina::program([](lamina::block& main) {
  constexpr lamina::window half{.stride = 2};
  auto image = layer::data<"image", float, 1, 28, 28>(main);
  auto c1 = layer::simple_img_conv_pool<20, 5, 2, half>(image, {.act = activation::relu});
  auto c2 = layer::simple_img_conv_pool<50, 5, 2, half>(c1, {.act = activation::relu});
  auto hidden = layer::fc<500>(c2, {.act = activation::relu});
  return layer::fc<10>(hidden, {.act = activation::softmax, .name = "y"});
});
constexpr int steps = 2;
#else
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 1>(main);
  auto hidden = layer::data<"hidden", float, LAMINA_NET>(main);
  auto cell = layer::data<"cell", float, LAMINA_NET>(main);
  auto [next_hidden, next_cell] = layer::lstm_unit(x, hidden, cell, {.name = "lstm"});
  return std::tuple{layer::fc<1>(next_hidden, {.name = "y"}), next_hidden, next_cell};
});
constexpr int steps = 20;
#endif

lamina::static_evaluator<decltype(net)> state;
float weights[decltype(state)::parameter_elements];

/// Numbers in [-1, 1) that are the same on all processors.
struct generator {
  std::uint32_t state = 12345;
  float operator()() {
    state = state * 1664525U + 1013904223U;
    return static_cast<float>(static_cast<std::int32_t>(state) >> 8) * 0x1p-23F;
  }
};

void step(generator& next) {
#if LAMINA_NET == 0
  std::ranges::generate(state.input<"image">(), next);
#else
  std::ranges::copy(state.activation<"lstm">(), state.input<"hidden">().begin());
  std::ranges::copy(state.activation<"lstm.tmp_0">(), state.input<"cell">().begin());
  state.input<"x">()[0] = next();
#endif
}

}  // namespace

int main() {
  generator next;
  for (float& w : weights) w = next() * (LAMINA_NET == 0 ? 0.0625F : 0.25F);
  state.load(weights);
  output::start_count();
  for (int i = 0; i < steps; ++i) {
    step(next);
    const std::uint32_t before = output::count();
    state.forward();
    const std::uint32_t after = output::count();
    for (const float y : state.activation<"y">()) output::number("y", y);
    if (i == steps - 1 && after != before)
      output::number("measured instructions per step", output::instructions_of(after - before));
  }
  output::number("measured bytes of memory", static_cast<float>(sizeof state));
  return output::end();
}
