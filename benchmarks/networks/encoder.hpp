// SPDX-License-Identifier: Apache-2.0
// lamina/benchmarks/networks/encoder.hpp - records the network of workload W8.
#pragma once

#include <lamina/layers/layers.hpp>

namespace networks {

namespace layer = lamina::layer;

/// W8: a transformer's encoder block, width 256, 4 heads, 64 positions, a hidden layer of 1024 with
/// gelu, layer_norm behind each half.
inline constexpr int encoder_width = 256, encoder_heads = 4, encoder_positions = 64;
template <class V>
constexpr auto split_heads(V x) {
  constexpr int size = encoder_width / encoder_heads;
  return layer::transpose<0, 2, 1, 3>(layer::reshape<encoder_positions, encoder_heads, size>(x));
}
template <class V>
constexpr auto attention(V x) {
  auto q = split_heads(layer::fc<encoder_width, 2>(x));
  auto k = split_heads(layer::fc<encoder_width, 2>(x));
  auto v = split_heads(layer::fc<encoder_width, 2>(x));
  constexpr lamina::layer::matmul_form by_rows{.transpose_y = true};
  auto weights = layer::softmax(layer::matmul<by_rows>(q, k, {.alpha = 0.125f}));
  auto seen = layer::transpose<0, 2, 1, 3>(layer::matmul(weights, v));
  return layer::fc<encoder_width, 2>(layer::reshape<encoder_positions, encoder_width>(seen));
}
constexpr auto encoder(lamina::block& main) {
  auto x = layer::data<"x", float, encoder_positions, encoder_width>(main);
  auto y = layer::data<"y", float, encoder_positions, encoder_width>(main);
  auto half = layer::layer_norm<2>(x + attention(x));
  auto wide = layer::fc<4 * encoder_width, 2>(half, {.act = lamina::activation::gelu});
  auto out = layer::layer_norm<2>(half + layer::fc<encoder_width, 2>(wide), {.name = "out"});
  return layer::mean(layer::square_error_cost(out, y));
}

}  // namespace networks
