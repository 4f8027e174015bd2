// SPDX-License-Identifier: Apache-2.0
// lamina/benchmarks/networks/narrow.hpp - records the network of workload N1.
#pragma once

#include <cstdint>

#include <lamina/layers/layers.hpp>

namespace networks {

namespace layer = lamina::layer;

/// N1: a narrow perceptron 64-64-64-64-64-10 with relu, for mini-batches of 2^18 samples.
constexpr auto narrow(lamina::block& main) {
  using lamina::activation;
  auto image = layer::data<"image", float, 64>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h = layer::fc<64>(image, {.act = activation::relu});
  h = layer::fc<64>(h, {.act = activation::relu});
  h = layer::fc<64>(h, {.act = activation::relu});
  h = layer::fc<64>(h, {.act = activation::relu});
  auto logits = layer::fc<10>(h, {.name = "logits"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
}

}  // namespace networks
