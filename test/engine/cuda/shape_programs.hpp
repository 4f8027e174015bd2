// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/shape_programs.hpp - programs that move data, reduce, normalise rows and
// multiply batches of matrices. For tests on the host and for a run on a device.
#pragma once

#include <cstdint>
#include <tuple>

#include "engine/cuda/train_both.hpp"

namespace test {

inline constexpr layer::matmul_form by_rows{.transpose_y = true};
inline constexpr layer::matmul_form by_columns{.transpose_x = true};

/// A transformer block whose rows are no whole vectors, and one of whole ones.
inline constexpr auto attention = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 5, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto n = layer::layer_norm<2>(layer::fc<6, 2>(x));
  auto s = layer::softmax(layer::matmul<by_rows>(n, n, {.alpha = 0.4f}));
  auto mixed = layer::layer_norm<2>(layer::matmul(s, layer::fc<6, 2>(n)) + x);
  auto turned = layer::matmul<by_columns>(mixed, x);
  auto wide = layer::reshape<2, 32>(layer::fc<64>(layer::transpose<0, 2, 1>(mixed)));
  auto more = layer::fc<32, 2>(wide, {.act = activation::tanh});
  auto joined = layer::concat<1>(std::tuple{layer::flatten(turned), layer::flatten(more)});
  auto logits = layer::fc<5>(joined);
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

/// Attention of two heads, which lie between each other.
inline constexpr auto heads = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 5, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  const auto by_heads = [](auto v) {
    return layer::transpose<0, 2, 1, 3>(layer::reshape<5, 2, 3>(v));
  };
  // What all keys have in common has no effect: the gradient of a bias would be noise.
  auto q = by_heads(layer::fc<6, 2>(x)), k = by_heads(layer::fc<6, 2>(x, {.bias = false}));
  auto s = layer::softmax(layer::matmul<by_rows>(q, k, {.alpha = 0.4f}));
  auto seen = layer::transpose<0, 2, 1, 3>(layer::matmul(s, by_heads(layer::fc<6, 2>(x))));
  auto logits = layer::fc<5>(layer::reshape<5, 6>(seen));
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

/// Parts of arrays along every dimension, and numbers of other types.
inline constexpr auto shapes = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto y = layer::fc<6, 2>(x);
  auto [a, b] = layer::split<layer::sections<2, 4>, 2>(y);
  auto [c, d] = layer::split<2, 1>(y);
  auto cut = layer::slice<layer::along<1, -3, 99>, layer::along<2, 1, 3>>(y);
  auto many = layer::expand<1, 2, 3>(layer::pad<0, 0, 1, 0, 0, 1>(cut, 0.5f));
  auto boxed = layer::crop<layer::offsets<0, 1, 0>, 2, 6>(y);
  const auto piles = layer::unstack<1>(layer::stack<1>({c, d * 2.0f}));
  auto piled = layer::stack<1>({piles[1], boxed * piles[0]});
  auto flat = layer::squeeze<1>(layer::unsqueeze<1>(layer::reshape<48>(
      layer::concat<2>(std::tuple{a, b, layer::transpose<0, 2, 1>(layer::reshape<6, 4>(y))}))));
  auto known = layer::one_hot<5>(layer::reshape<1>(label));
  auto best = std::get<0>(layer::topk<3>(y));
  auto low = layer::cast<float>(layer::less_than(x, y));
  auto joined = layer::concat<1>(std::tuple{flat, layer::flatten(many), layer::flatten(piled),
                                            layer::flatten(best), layer::flatten(low)});
  auto logits = layer::fc<5>(joined);
  return layer::mean(layer::square_error_cost(layer::softmax(logits), known));
});

/// Reductions over every kind of dimension, norms of channels, a broadcast along the middle.
inline constexpr auto reductions = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4, 3, 5>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto y = layer::group_norm<2>(layer::reshape<4, 3, 5>(layer::fc<60>(x)));
  auto z = layer::instance_norm(y * x);
  auto a = layer::reduce_sum<2>(z);
  auto b = layer::reduce_mean<1>(y);
  auto c = layer::reduce_max<1, 3>(z, layer::keep_dim);
  auto d = layer::reduce_min<-1>(y);
  auto e = layer::elementwise_mul<0>(z, layer::reduce_mean<3>(y));
  auto joined = layer::concat<1>(std::tuple{layer::flatten(a), layer::flatten(b), layer::flatten(c),
                                            layer::flatten(d), layer::flatten(e)});
  auto logits = layer::fc<5>(joined);
  return layer::mean(layer::softmax_with_cross_entropy(logits, label)) +
         layer::reduce_mean(layer::square(z));
});

/// Rows of tables by numbers that come back, one of which is padding; rows of other rows.
inline constexpr auto lookups = lamina::program([](lamina::block& main) {
  auto ids = layer::data<"ids", std::int64_t, 7>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto words = layer::embedding<5, 6>(layer::unsqueeze<2>(ids), {.padding_idx = 2});
  auto picked = layer::gather(layer::fc<9>(layer::flatten(words)), label);
  auto logits = layer::fc<5>(layer::flatten(words));
  return layer::mean(layer::softmax_with_cross_entropy(logits, label)) +
         layer::mean(layer::square(picked));
});

}  // namespace test
