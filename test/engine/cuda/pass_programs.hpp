// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/pass_programs.hpp - classifiers whose last layers, cost and slopes are one
// kernel where they have few rows. For tests on the host and for a run on a device.
#pragma once

#include <cstdint>

#include "engine/cuda/train_both.hpp"

namespace test {

/// A product of many terms, a chain, a cost whose probabilities a metric reads, too; slopes of both
/// layers behind. The first layers are too wide for a chain that adds up gradients.
inline constexpr auto classifier = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 300>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto a = layer::fc<100>(x, {.act = activation::relu});
  auto b = layer::fc<70>(a, {.act = activation::tanh});
  auto logits = layer::fc<5>(b, {.name = "logits"});
  layer::accuracy(layer::softmax(logits), label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label, {.ignore_index = 3}));
});

/// Slopes of a layer that is wider than those of chains.
inline constexpr auto broad_layer = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 13>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto logits = layer::fc<5>(layer::fc<301>(x, {.act = activation::relu}));
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

/// Probabilities and soft labels, costs that weigh rows, layers that go around others; what passes
/// have in between is read by somebody behind.
inline constexpr auto weighed = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 13>(main);
  auto y = layer::data<"y", float, 5>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto weight = layer::data<"weight", float>(main);
  auto a = layer::fc<90>(x, {.act = activation::relu});
  auto b = layer::fc<90>(a, {.act = activation::sigmoid}) + a;
  auto p = layer::softmax(layer::fc<5>(b), {.name = "p"});
  auto hard = layer::elementwise_mul(layer::cross_entropy(p, label), weight);
  auto logits = layer::fc<5>(layer::elementwise_mul<0>(b, weight));
  auto soft = layer::softmax_with_cross_entropy(logits, layer::softmax(y));
  return layer::mean(hard) + layer::mean(soft) + layer::mean(layer::square_error_cost(p, y));
});

/// Two towers, one of them twice, and a number of all rows in between, which nothing may pass.
inline constexpr auto towers = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 200>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto a = layer::fc<80>(x, {.act = activation::tanh});
  auto b = layer::fc<80>(a, {.act = activation::tanh, .param = {.name = "shared"}});
  auto c = layer::fc<80>(b, {.act = activation::tanh, .param = {.name = "shared"}});
  auto d = layer::fc<80>(a, {.act = activation::relu});
  auto centre = layer::mean(d);
  auto e = layer::fc<80>(c + d, {.act = activation::relu});
  auto logits = layer::fc<5>(layer::elementwise_mul(e, centre));
  return layer::mean(layer::softmax_with_cross_entropy(logits, label)) +
         layer::mean(layer::square(e));
});

namespace detail {

constexpr unsigned mixed(unsigned x) {
  x ^= x >> 16;
  x *= 0x7feb352d;
  x ^= x >> 15;
  x *= 0x846ca68b;
  return x ^ x >> 16;
}

/// So many layers more, each chosen by the seed, on two values of 40 numbers and the cost so far.
template <unsigned Seed, int Left, class A, class B, class Cost, class Weight, class Label>
constexpr auto random_layers(A a, B b, Cost cost, Weight weight, Label label) {
  constexpr unsigned kind = Left == 0 ? 99 : mixed(Seed * 64 + Left) % 12;
  const auto go_on = [&](auto x, auto y, auto sum) {
    return random_layers<Seed, Left - 1>(x, y, sum, weight, label);
  };
  if constexpr (kind == 0)
    return go_on(layer::fc<40>(a, {.act = activation::relu}), b, cost);
  else if constexpr (kind == 1)
    return go_on(layer::fc<40>(a, {.act = activation::tanh}), a, cost);
  else if constexpr (kind == 2)
    return go_on(a + b, a, cost);
  else if constexpr (kind == 3)
    return go_on(layer::fc<40>(b, {.bias = false}) * a, b, cost);
  else if constexpr (kind == 4)
    return go_on(layer::dropout(a, 0.25f), b, cost);
  else if constexpr (kind == 5)
    return go_on(layer::softmax(a), layer::tanh(b), cost);
  else if constexpr (kind == 6)
    return go_on(layer::elementwise_mul<0>(a, weight), b, cost);
  else if constexpr (kind == 7)
    return go_on(layer::fc<40>(layer::fc<150>(a, {.act = activation::sigmoid})), b, cost);
  else if constexpr (kind == 8)
    return go_on(a, b,
                 cost + layer::mean(layer::softmax_with_cross_entropy(layer::fc<5>(a), label)));
  else if constexpr (kind == 9)
    return go_on(a, layer::fc<40>(a + b, {.act = activation::relu}),
                 cost + layer::mean(layer::elementwise_mul(
                            layer::cross_entropy(layer::softmax(layer::fc<5>(b)), label), weight)));
  else if constexpr (kind == 10)
    return go_on(layer::elementwise_mul(a, layer::mean(b)), a, cost);
  else if constexpr (kind == 11)
    return go_on(layer::fc<40>(layer::fc<90>(a, {.act = activation::relu})), b, cost);
  else
    return cost + layer::mean(layer::square(a)) + layer::mean(b);
}

}  // namespace detail

/// Layers, costs and what lies between them at random: what a pass may take is another each time.
template <unsigned Seed, int Count>
inline constexpr auto random_rows = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 20>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto weight = layer::data<"weight", float>(main);
  auto a = layer::fc<40>(x, {.act = activation::tanh});
  auto cost = layer::mean(layer::softmax_with_cross_entropy(layer::fc<5>(a), label));
  return detail::random_layers<Seed, Count>(a, layer::scale(a, 0.5f), cost, weight, label);
});

}  // namespace test
