// SPDX-License-Identifier: Apache-2.0
// lstm_unit and gru_unit: values by hand, gradients, the engine.

#include "executor/recurrent_values.hpp"
#include "executor/shared_executor.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>
#include <laws/sequence_law.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::recurrent_activation;

TEST_CASE("lstm_unit by hand") {
  constexpr auto step = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 3>(main);
    auto h = layer::data<"h", float, 1>(main);
    auto c = layer::data<"c", float, 1>(main);
    auto [hidden, cell] = layer::lstm_unit(x, h, c, {.forget_bias = 1});
    return std::tuple{hidden, cell};
  });
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(step.view(), scope);
  // x and h go to the gates i, f, o and g as they are.
  scope.var("fc_0.w_0") =
      lamina::tensor({4, 4}, std::vector<float>{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
  const auto r = executor.run(step.view(), scope,
                              {{"x", lamina::tensor({1, 3}, std::vector<float>{0.5f, -2, 3})},
                               {"h", lamina::tensor({1, 1}, std::vector<float>{0.25f})},
                               {"c", lamina::tensor({1, 1}, std::vector<float>{4})}});
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  const double cell = sigmoid(-2 + 1) * 4 + sigmoid(0.5) * std::tanh(0.25);
  recurrent::check_values(r[1], {cell});
  recurrent::check_values(r[0], {sigmoid(3) * std::tanh(cell)});
}

TEST_CASE("gradient: lstm_unit, through both states and through one") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 3>(main);
    auto h = layer::data<"h", float, 2>(main);
    auto c = layer::data<"c", float, 2>(main);
    auto [hidden, cell] = layer::lstm_unit(x, h, c, {.forget_bias = 0.5f});
    auto [hidden2, cell2] = layer::lstm_unit(x, hidden, cell, {.bias = false});
    return layer::mean(layer::square(hidden2) + cell2);
  }));
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 1>(main);
    auto h = layer::sequence<"h", float, 2>(x);
    auto [hidden, cell] = layer::lstm_unit(x, h, h);
    return layer::mean(hidden);
  }));
}

namespace {

constexpr auto units = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto h = layer::data<"h", float, 19>(main);
  auto c = layer::data<"c", float, 19>(main);
  auto [h1, c1] = layer::lstm_unit(x, h, c, {.forget_bias = 1});
  auto [h2, reset, gates] = layer::gru_unit<3 * 19>(layer::fc<3 * 19>(x), h1);
  auto [h3, reset2, gates2] =
      layer::gru_unit<3 * 19>(layer::fc<3 * 19>(x), h2,
                              {.origin_mode = true,
                               .activation = recurrent_activation::identity,
                               .gate_activation = recurrent_activation::tanh,
                               .bias = false});
  return std::tuple{layer::mean(layer::square(h3)) + layer::mean(c1), h1, c1, h2, reset, gates};
});

constexpr auto steps_of_sequences = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 16>(main);
  auto [hidden, cell] = layer::lstm_unit(x, x, x, {.bias = false});
  auto [next, reset, gates] = layer::gru_unit<48>(layer::fc<48>(x), hidden);
  return std::tuple{layer::mean(next), next, hidden};
});

}  // namespace

TEST_CASE("lstm_unit and gru_unit for samples") { lamina::law::check_engine(units); }

TEST_CASE("lstm_unit and gru_unit for elements of sequences") {
  lamina::law::check_engine(steps_of_sequences);
}
