// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/sequence_programs.hpp - programs on sequences. For tests on the host and for a
// run on a device.
#pragma once

#include <cstdint>
#include <tuple>

#include "engine/cuda/train_both.hpp"

namespace test {

/// Words, an attention over them, convolutions along them, and every pool.
inline constexpr auto sentences = lamina::program([](lamina::block& main) {
  auto word = layer::sequence<"word", std::int64_t>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto e = layer::embedding<5, 9>(word);
  auto c = layer::sequence_conv<8, 3>(e, {.act = activation::tanh});
  auto weighed = c * layer::sequence_softmax(layer::fc<1>(e, {.bias = false}));
  auto whole = layer::sequence_pool(weighed, {.type = lamina::pooling_type::sum});
  auto ahead = layer::row_conv<2>(layer::sequence_reverse(c));
  auto near = layer::elementwise_mul(ahead, layer::sequence_expand_as(whole, c));
  auto a = layer::sequence_pool(near, {.type = lamina::pooling_type::max});
  auto b = layer::sequence_pool(near, {.type = lamina::pooling_type::average});
  auto d = layer::sequence_pool(ahead, {.type = lamina::pooling_type::last});
  auto logits =
      layer::fc<5>(a + b + d + layer::sequence_pool(c, {.type = lamina::pooling_type::first}));
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

/// An LSTM with peepholes, one backwards, and both kinds of gated units.
inline constexpr auto recurrences = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 4>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto begin = layer::fc<5>(layer::sequence_pool(x, {.type = lamina::pooling_type::sum}));
  auto first = std::get<0>(layer::dynamic_lstm<28>(layer::fc<28>(x, {.bias = false})));
  auto [back, cell] = layer::dynamic_lstm<20>(layer::fc<20>(first), begin, layer::tanh(begin),
                                              {.use_peepholes = false, .is_reverse = true});
  auto gated = layer::dynamic_gru<6>(layer::fc<18>(first, {.bias = false}));
  auto other =
      layer::dynamic_gru<16>(layer::fc<48>(cell), {.is_reverse = true, .origin_mode = true});
  auto a = layer::sequence_pool(back, {.type = lamina::pooling_type::first});
  auto b = layer::sequence_pool(gated, {.type = lamina::pooling_type::last});
  auto c = layer::sequence_pool(other, {.type = lamina::pooling_type::average});
  auto logits = layer::fc<5>(layer::concat<1>(std::tuple{a, b, c}));
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

/// Recurrences with initial states.
template <int States>
constexpr auto recurrences_of = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 4>(main);
  auto sum = layer::sequence_pool(x, {.type = lamina::pooling_type::sum});
  auto begin = layer::fc<States>(sum, {.act = activation::tanh});
  auto [hidden, cell] =
      layer::dynamic_lstm<4 * States>(layer::fc<4 * States>(x), begin, layer::scale(begin, 0.5f));
  auto gated = layer::dynamic_gru<States>(layer::fc<3 * States>(x), begin, {.is_reverse = true});
  auto a = layer::sequence_pool(hidden, {.type = lamina::pooling_type::last});
  auto b = layer::sequence_pool(cell, {.type = lamina::pooling_type::average});
  auto c = layer::sequence_pool(gated, {.type = lamina::pooling_type::first});
  return layer::mean(layer::square(layer::fc<3>(layer::concat<1>(std::tuple{a, b, c}))));
});

/// Recurrent operators of a width: both directions, with initial states and without, with peepholes
/// and without, in both modes, and with other functions.
template <int States>
constexpr auto recurrent_operators = lamina::program([](lamina::block& main) {
  using lamina::recurrent_activation;
  auto x = layer::sequence<"x", float, 4>(main);
  auto begin = layer::fc<States>(layer::sequence_pool(x, {.type = lamina::pooling_type::sum}),
                                 {.act = activation::tanh});
  auto [a, cell] = layer::dynamic_lstm<4 * States>(layer::fc<4 * States>(x));
  auto [b, unused] =
      layer::dynamic_lstm<4 * States>(layer::fc<4 * States>(x), begin, layer::scale(begin, 0.5f),
                                      {.use_peepholes = false,
                                       .is_reverse = true,
                                       .cell_activation = recurrent_activation::identity,
                                       .candidate_activation = recurrent_activation::sigmoid});
  auto c = layer::dynamic_gru<States>(layer::fc<3 * States>(x), begin, {.origin_mode = true});
  auto d = layer::dynamic_gru<States>(
      layer::fc<3 * States>(x),
      {.is_reverse = true, .candidate_activation = recurrent_activation::identity, .bias = false});
  auto sum = layer::sequence_pool(a * b, {.type = lamina::pooling_type::average});
  auto last = layer::sequence_pool(cell + c, {.type = lamina::pooling_type::last});
  auto first = layer::sequence_pool(d, {.type = lamina::pooling_type::first});
  return layer::mean(layer::square(layer::fc<3>(layer::concat<1>(std::tuple{sum, last, first}))));
});

/// Sequences of sequences.
inline constexpr auto paragraphs = lamina::program([](lamina::block& main) {
  auto x = layer::nested_sequence<"x", float, 3>(main);
  auto sums = layer::sequence_pool(layer::fc<7>(x), {.type = lamina::pooling_type::sqrt});
  return layer::mean(
      layer::square(layer::sequence_pool(sums, {.type = lamina::pooling_type::max})));
});

}  // namespace test
