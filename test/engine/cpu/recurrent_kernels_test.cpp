// SPDX-License-Identifier: Apache-2.0
// Recurrent operators on the engine: against the executor, with gradients, each sample alone.
#include "laws/engine_law.hpp"

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::recurrent_activation;

namespace {

constexpr auto lstm_over_fc = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 7>(main);
  auto [hidden, cell] = layer::dynamic_lstm<4 * 9>(layer::fc<4 * 9>(x));
  return std::tuple{layer::mean(layer::square(hidden) + cell), hidden, cell};
});
constexpr auto lstm_from_states = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 4 * 19>(main);
  auto h = layer::data<"h", float, 19>(main);
  auto c = layer::data<"c", float, 19>(main);
  auto [forwards, cell] = layer::dynamic_lstm<4 * 19>(x, h, c, {.use_peepholes = false});
  auto [backwards, unused] =
      layer::dynamic_lstm<4 * 19>(x, c, h,
                                  {.is_reverse = true,
                                   .gate_activation = recurrent_activation::tanh,
                                   .cell_activation = recurrent_activation::identity,
                                   .candidate_activation = recurrent_activation::sigmoid});
  return std::tuple{
      layer::mean(layer::sequence_last_step(forwards) * h + layer::sequence_first_step(backwards)),
      forwards, backwards};
});
constexpr auto gru_over_fc = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 7>(main);
  auto hidden = layer::dynamic_gru<9>(layer::fc<3 * 9>(x), {.is_reverse = true});
  return std::tuple{layer::mean(layer::square(hidden)), hidden};
});
constexpr auto gru_from_state = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 3 * 16>(main);
  auto h = layer::data<"h", float, 16>(main);
  auto first = layer::dynamic_gru<16>(x, h, {.origin_mode = true});
  auto second = layer::dynamic_gru<16>(x, {.gate_activation = recurrent_activation::tanh,
                                           .candidate_activation = recurrent_activation::identity,
                                           .bias = false});
  return std::tuple{layer::mean(first * second), first, second};
});
constexpr auto over_two_levels = lamina::program([](lamina::block& main) {
  auto words = layer::nested_sequence<"doc", float, 5>(main);
  auto sentences = layer::bidirectional_gru<6>(words);
  auto documents = layer::bidirectional_lstm<5>(sentences);
  return std::tuple{layer::mean(layer::square(layer::fc<3>(documents))), documents, sentences};
});

}  // namespace

TEST_CASE("lstm over a product, with peepholes") { lamina::law::check_engine(lstm_over_fc); }
TEST_CASE("lstm from states, both directions, other functions") {
  lamina::law::check_engine(lstm_from_states, {.low = -0.3f, .high = 0.3f});
}
TEST_CASE("gru over a product, backwards") { lamina::law::check_engine(gru_over_fc); }
TEST_CASE("gru from a state, both modes") {
  lamina::law::check_engine(gru_from_state, {.low = -0.3f, .high = 0.3f});
}
TEST_CASE("recurrent nets over sequences of sequences") {
  lamina::law::check_engine(over_two_levels);
}
