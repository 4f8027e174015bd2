// SPDX-License-Identifier: Apache-2.0
// lamina/benchmarks/networks/perceptron.hpp - records the network of workload W1.
#pragma once

#include <cstdint>

#include <lamina/layers/layers.hpp>

namespace networks {

namespace layer = lamina::layer;

/// W1: a perceptron 784-128-64-10 with relu.
constexpr auto perceptron(lamina::block& main) {
  auto image = layer::data<"image", float, 784>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h1 = layer::fc<128>(image, {.act = lamina::activation::relu});
  auto h2 = layer::fc<64>(h1, {.act = lamina::activation::relu});
  auto logits = layer::fc<10>(h2, {.name = "logits"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
}

}  // namespace networks
