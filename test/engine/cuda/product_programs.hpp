// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/product_programs.hpp - programs of narrow products. For tests on the host and
// for a run on a device.
#pragma once

#include <cstdint>

#include "engine/cuda/train_both.hpp"

namespace test {

/// Equal layers.
inline constexpr auto narrow = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 13>(main);
  auto y = layer::data<"y", float, 5>(main);
  auto h = layer::fc<64>(x, {.act = activation::relu});
  for (int i = 0; i < 3; ++i) h = layer::fc<64>(h, {.act = activation::relu});
  auto out = layer::fc<5>(h, {.name = "out"});
  return layer::mean(layer::square_error_cost(out, y));
});

/// Odd widths, widths above a tile, layers without bias or activation, values with several readers,
/// a layer twice.
inline constexpr auto uneven = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 13>(main);
  auto y = layer::data<"y", float, 5>(main);
  auto a = layer::fc<100>(x, {.act = activation::tanh});
  auto b = layer::fc<33>(a, {.bias = false});
  auto c = layer::fc<7>(b, {.act = activation::sigmoid, .name = "c"});
  auto d = layer::fc<130>(c, {.act = activation::relu});
  auto e = layer::fc<20>(d, {.act = activation::swish});
  auto f = layer::fc<20>(e) + e;
  auto g = layer::fc<20>(f, {.act = activation::relu, .param = {.name = "shared"}});
  auto h = layer::fc<20>(g, {.act = activation::relu, .param = {.name = "shared"}});
  auto out = layer::fc<5>(h * g, {.name = "out"});
  return layer::mean(layer::square_error_cost(out, y)) + layer::mean(layer::square(b));
});

/// A classifier: a product of many terms, a cost whose probabilities a metric reads, too.
inline constexpr auto classifier = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 300>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto a = layer::fc<100>(x, {.act = activation::relu});
  auto b = layer::fc<70>(a, {.act = activation::tanh});
  auto logits = layer::fc<5>(b, {.name = "logits"});
  layer::accuracy(layer::softmax(logits), label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label, {.ignore_index = 3}));
});

/// A hidden layer of an odd width.
inline constexpr auto broad_layer = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 13>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto logits = layer::fc<5>(layer::fc<301>(x, {.act = activation::relu}));
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

/// Probabilities and soft labels, costs that weigh rows, a residual layer, values with several
/// readers.
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

/// Two towers, one of them twice, and a mean over all rows that later layers read.
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
