// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/norm_programs.hpp - programs that normalise, by sums of channels and of columns.
// For tests on the host and for a run on a device.
#pragma once

#include <cstdint>

#include "engine/cuda/train_both.hpp"

namespace test {

/// Normalised images: channels that are whole packs, or of odd sides; the sums of a bias as well.
template <int Height, int Width>
inline constexpr auto normalised_images = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 2, Height, Width>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto x = layer::conv2d<3, 1>(image, {.act = activation::tanh});
  auto y = layer::batch_norm(x, {.act = activation::tanh});
  auto logits = layer::fc<5>(
      layer::pool2d<9, lamina::window{.stride = 9}>(y, {.type = lamina::pooling_type::average}));
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

/// Channels of one, of four and of three elements a row.
inline constexpr auto normalised_columns = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 7>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  const auto normalise = [](auto v) {
    return layer::batch_norm(layer::tanh(v), {.act = activation::tanh});
  };
  auto a = normalise(layer::fc<20>(x));
  auto b = normalise(layer::reshape<6, 2, 2>(layer::fc<24>(a)));
  auto c = normalise(layer::reshape<7, 3, 1>(layer::fc<21>(layer::flatten(b))));
  auto logits = layer::fc<5>(normalise(layer::fc<9>(layer::flatten(c))));
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

/// Normalised rows of whole packs and of others, and parts of rows.
inline constexpr auto normalised_rows = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 7>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto a = layer::layer_norm(layer::fc<36>(x), {.act = activation::tanh});
  auto b = layer::layer_norm<2>(layer::reshape<5, 6>(layer::fc<30>(a)), {.act = activation::tanh});
  auto c = layer::layer_norm<2>(layer::reshape<3, 8>(layer::fc<24>(layer::flatten(b))));
  auto d = layer::layer_norm(layer::fc<5>(layer::flatten(c)), {.shift = false});
  return layer::mean(layer::softmax_with_cross_entropy(d, label));
});

/// Groups of channels and each channel by itself.
template <int Height, int Width>
inline constexpr auto normalised_groups = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 2, Height, Width>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto x = layer::conv2d<4, 1>(image, {.act = activation::tanh});
  auto y = layer::tanh(layer::instance_norm(layer::tanh(layer::group_norm<2>(x))));
  auto logits = layer::fc<5>(
      layer::pool2d<9, lamina::window{.stride = 9}>(y, {.type = lamina::pooling_type::average}));
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

}  // namespace test
