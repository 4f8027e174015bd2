// SPDX-License-Identifier: Apache-2.0
// lstmp, lstm_unit and gru_unit on the engine: against the executor, with gradients, each sample
// alone.
#include "laws/engine_law.hpp"

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::recurrent_activation;

namespace {

constexpr auto projecting = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 7>(main);
  auto h = layer::data<"h", float, 5>(main);
  auto c = layer::data<"c", float, 18>(main);
  auto gates = layer::fc<4 * 18>(x);
  auto [first, cell] = layer::dynamic_lstmp<4 * 18, 5>(gates, h, c);
  auto [second, unused] =
      layer::dynamic_lstmp<4 * 18, 20>(gates, {.use_peepholes = false,
                                               .is_reverse = true,
                                               .proj_activation = recurrent_activation::identity,
                                               .cell_clip = 0.2f,
                                               .proj_clip = 0.1f});
  return std::tuple{
      layer::mean(layer::square(first)) + layer::mean(layer::square(second)) + layer::mean(cell),
      first, cell, second};
});
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

TEST_CASE("lstmp from states, and with clips") { lamina::law::check_engine(projecting); }
TEST_CASE("lstm_unit and gru_unit for samples") { lamina::law::check_engine(units); }
TEST_CASE("lstm_unit and gru_unit for elements of sequences") {
  lamina::law::check_engine(steps_of_sequences);
}
