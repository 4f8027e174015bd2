// SPDX-License-Identifier: Apache-2.0
// test/engine/edge_programs.hpp - costs and norms whose values or gradients are easily lost at edge
// values: for tests on the CPU, on the host in place of a device, and on a device.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <tuple>
#include <vector>

#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace test::edges {

namespace layer = lamina::layer;
using numbers = std::vector<double>;

/// Rows of numbers, one after the other.
inline numbers joined(std::initializer_list<numbers> rows) {
  numbers all;
  for (const numbers& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all;
}

inline constexpr auto probabilities = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto p = layer::softmax(x);
  auto soft = layer::cross_entropy(p, layer::data<"soft", float, 3>(main));
  auto hard = layer::cross_entropy(p, layer::data<"hard", std::int64_t>(main));
  return std::tuple{layer::mean(soft + hard), soft, hard};
});
inline constexpr auto logits = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto w = layer::data<"w", float, 1>(main);
  auto soft = layer::softmax_with_cross_entropy(x, layer::data<"soft", float, 3>(main));
  auto hard = layer::softmax_with_cross_entropy(x, layer::data<"hard", std::int64_t>(main));
  return std::tuple{layer::mean((soft + hard) * w), soft, hard};
});
inline constexpr auto costs_of_pairs = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 1>(main);
  auto label = layer::data<"label", float, 1>(main);
  auto zero = layer::data<"zero", float, 1>(main);
  auto binary = layer::sigmoid_cross_entropy_with_logits(x, label);
  auto rank = layer::rank_loss(label, x, zero);
  auto smooth = layer::smooth_l1(x, zero, zero, zero);
  return std::tuple{layer::mean(binary + rank + smooth), binary, rank, smooth};
});
inline constexpr auto norms = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 20>(main);
  auto y = layer::data<"y", float, 20>(main);
  auto cosine = layer::cos_sim(x, y);
  auto along = layer::l2_normalize(x, {.epsilon = 0});
  auto across = layer::l2_normalize<1>(layer::reshape<2, 10>(x), {.epsilon = 0});
  auto whitened = layer::layer_norm(x, {.scale = false, .shift = false});
  auto total = layer::reduce_sum<1>(along * y, layer::keep_dim) +
               layer::reduce_sum<1>(layer::reshape<20>(across) * y, layer::keep_dim) +
               layer::reduce_sum<1>(whitened * y, layer::keep_dim);
  return std::tuple{layer::mean(cosine), cosine, along, across, whitened, layer::mean(total)};
});
inline constexpr auto slopes_of_norms = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 20>(main);
  auto w = layer::data<"w", float, 20>(main);
  auto all = layer::l2_normalize(x, {.epsilon = 0}) +
             layer::reshape<20>(layer::l2_normalize<1>(layer::reshape<2, 10>(x), {.epsilon = 0})) +
             layer::layer_norm(x, {.scale = false, .shift = false});
  return std::tuple{layer::mean(all * w), all};
});
inline constexpr auto groups = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4, 3, 3>(main);
  auto w = layer::data<"w", float, 4, 3, 3>(main);
  return layer::mean((layer::group_norm<2>(x) + layer::instance_norm(x)) * w);
});
inline constexpr auto channels = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4, 3, 3>(main);
  auto w = layer::data<"w", float, 4, 3, 3>(main);
  auto images = layer::batch_norm(x);
  auto numbers = layer::batch_norm(layer::reshape<36>(x));
  auto all = (images + layer::reshape<4, 3, 3>(numbers)) * w;
  return std::tuple{layer::mean(all), images, numbers};
});
inline constexpr auto clipped = lamina::program([](lamina::block& main) {
  return std::tuple{layer::clip_by_norm(layer::data<"x", float, 3>(main), 2)};
});
inline constexpr auto ranked = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto cost = layer::bpr_loss(x, layer::data<"label", std::int64_t>(main));
  return std::tuple{layer::mean(cost), cost};
});

}  // namespace test::edges
