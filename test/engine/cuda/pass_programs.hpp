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

}  // namespace test
