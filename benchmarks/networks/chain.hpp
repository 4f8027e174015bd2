// SPDX-License-Identifier: Apache-2.0
// lamina/benchmarks/networks/chain.hpp - records the network of workload W6.
#pragma once

#include <cstdint>

#include <lamina/layers/layers.hpp>

namespace networks {

namespace layer = lamina::layer;

/// W6: y = tanh(a * b + c) * sigmoid(d) + relu(a - c) over four million elements. The four operands
/// are parameters, so that a gradient machine has their gradients.
inline constexpr int chain_elements = 4096 * 1024;
constexpr auto chain(lamina::block& main) {
  const auto operand = [&](std::uint64_t seed) {
    layer::layer_helper layer(*main.builder, "operand");
    const int id = layer.parameter({}, ".w_", {chain_elements}, lamina::dtype::float32,
                                   lamina::init::normal(0, 1, seed), __builtin_LINE());
    return lamina::variable<float, lamina::once, chain_elements>{main.builder, id};
  };
  auto a = operand(1), b = operand(2), c = operand(3), d = operand(4);
  return layer::elementwise_add(layer::tanh(a * b + c) * layer::sigmoid(d), layer::relu(a - c),
                                {.name = "y"});
}

}  // namespace networks
