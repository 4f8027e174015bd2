// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/image_programs.hpp - programs of convolutions, pooling and normalisation. For
// tests on the host and for a run on a device.
#pragma once

#include <cstdint>

#include "engine/cuda/train_both.hpp"

namespace test {

using lamina::window;

/// LeNet: channels of 576 and 64 places, whole packs, and of 144 and 16.
inline constexpr auto lenet = lamina::program([](lamina::block& main) {
  constexpr window half{.stride = 2};
  auto image = layer::data<"image", float, 1, 16, 16>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto c1 = layer::simple_img_conv_pool<9, 5, 2, half>(image, {.act = activation::relu});
  auto c2 = layer::simple_img_conv_pool<17, 3, 2, half>(c1, {.act = activation::relu});
  auto logits = layer::fc<5>(layer::fc<20>(c2, {.act = activation::relu}));
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

/// Residual blocks with batch_norm: sums of three operands in the groups of convolutions; images of
/// odd sides, whose packs cross channels.
inline constexpr auto residual = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 3, 9, 9>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto fine = layer::conv_bn<10, 3, window{.padding = 1}>(image);
  auto middle = layer::basic_block<12, 2>(layer::basic_block<10>(fine));
  auto mean = layer::global_pool2d(middle, {.type = lamina::pooling_type::average});
  auto logits = layer::fc<5>(mean);
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

/// Windows of every kind: groups, depthwise, dilation, strides, transposed and of volumes; pools
/// that overlap, are padded, rounded up and adaptive; that lie side by side with a column behind
/// them, or end before it does.
inline constexpr auto windows = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 4, 11, 10>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto a = layer::conv2d<20, 3, window{.stride = 2, .padding = 2, .dilation = 2, .groups = 2}>(
      image, {.act = activation::tanh});
  auto b = layer::conv2d<20, 3, window{.padding = 1, .groups = 20}>(a, {.bias = false});
  auto c = layer::pool2d<3, window{.stride = 2, .padding = 1, .ceil_mode = true}>(
      b, {.type = lamina::pooling_type::average});
  auto d = layer::pool2d<3, window{.padding = 1}>(c);
  auto e = layer::conv2d_transpose<9, 3, window{.stride = 2}>(d);
  auto f = layer::adaptive_pool2d<3>(e, {.type = lamina::pooling_type::max});
  auto g = layer::pool2d<3, window{.stride = 3}>(e, {.type = lamina::pooling_type::average});
  auto h = layer::pool2d<lamina::extent2{2, 3}, window{.stride = {2, 3}, .ceil_mode = true}>(e);
  auto logits = layer::fc<5>(f) + layer::fc<5>(g) + layer::fc<5>(h);
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

/// Convolutions with few places and many terms, which are summed in parts; one with more taps than
/// a word has bits for, and its gradients.
inline constexpr auto deep_windows = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 40, 4, 4>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto a = layer::conv2d<16, 3, window{.padding = 1}>(image, {.act = activation::tanh});
  auto b = layer::conv2d_transpose<12, 3, window{.padding = 1}>(a, {.act = activation::tanh});
  auto c = layer::conv2d<8, lamina::extent2{1, 33}, window{.padding = {0, 16}}>(
      b, {.act = activation::tanh});
  auto d = layer::conv2d_transpose<4, lamina::extent2{33, 1}, window{.padding = {16, 0}}>(c);
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<5>(d), label));
});

/// Convolutions of 3 to 50 filters, which fill a part of a tile, one, or several.
inline constexpr auto channels = lamina::program([](lamina::block& main) {
  constexpr window same{.padding = 1};
  auto image = layer::data<"image", float, 16, 6, 5>(main);
  auto a = layer::conv2d<12, 3, same>(image, {.bias = false});
  auto a2 = layer::conv2d<16, 3, window{.stride = 2, .padding = 1}>(a, {.bias = false});
  auto a3 = layer::conv2d_transpose<20, 3, window{.stride = 2}>(a, {.bias = false});
  auto b = layer::conv2d<20, 3, same>(image, {.bias = false});
  auto b2 = layer::conv2d<33, 1>(b, {.bias = false});
  auto c = layer::conv2d<32, 1>(image, {.bias = false});
  auto c2 = layer::conv2d<50, 3, window{.padding = 1, .groups = 2}>(c, {.bias = false});
  auto d = layer::conv2d<33, 3, window{.stride = 2, .padding = 1}>(image, {.bias = false});
  auto d2 = layer::conv2d<50, 2>(d, {.bias = false});
  auto e = layer::conv2d<3, 3, same>(image, {.bias = false});
  auto e2 = layer::conv2d<12, 3>(e, {.bias = false});
  const auto sum = [&](auto made, auto slope) { return layer::reduce_sum(made * (made + slope)); };
  return sum(a2, layer::data<"a", float, 16, 3, 3>(main)) +
         sum(a3, layer::data<"a3", float, 20, 13, 11>(main)) +
         sum(b2, layer::data<"b", float, 33, 6, 5>(main)) +
         sum(c2, layer::data<"c", float, 50, 6, 5>(main)) +
         sum(d2, layer::data<"d", float, 50, 2, 2>(main)) +
         sum(e2, layer::data<"e", float, 12, 4, 3>(main));
});

/// Filters of every kind, with gradients of filters and images: by groups, two filters a channel,
/// 1 x 1, narrow, dilated, with strides longer than the filter; transposed, and of volumes.
inline constexpr auto filters = lamina::program([](lamina::block& main) {
  constexpr layer::conv2d_attr tanh{.act = activation::tanh};
  auto image = layer::data<"image", float, 6, 13, 11>(main);
  auto a = layer::conv2d<8, 1>(image, tanh);
  auto b = layer::conv2d<16, 3, window{.padding = 1, .groups = 8}>(a, tanh);
  auto c = layer::conv2d<6, 2, window{.stride = 3, .padding = 1, .groups = 2}>(b, tanh);
  auto d = layer::conv2d<5, 1, window{.stride = 2}>(b, tanh);
  auto e = layer::conv2d<4, lamina::extent2{1, 9}, window{.padding = {0, 4}}>(b, tanh);
  auto f = layer::conv2d<5, lamina::extent2{3, 2}, window{.padding = {2, 0}, .dilation = {2, 3}}>(
      e, tanh);
  auto g = layer::conv2d_transpose<10, 2, window{.stride = 3, .padding = 1, .groups = 2}>(c, tanh);
  auto h =
      layer::conv2d_transpose<6, lamina::extent2{3, 2}, window{.stride = {1, 2}, .dilation = 2}>(
          d, tanh);
  auto volume = layer::data<"volume", float, 4, 5, 6, 7>(main);
  auto v = layer::conv3d<6, lamina::extent3{2, 3, 1},
                         lamina::window3{.stride = {2, 1, 3}, .padding = {1, 2, 0}, .groups = 2}>(
      volume, tanh);
  auto w = layer::conv3d<3, 2, lamina::window3{.padding = 1, .dilation = {1, 2, 1}}>(v, tanh);
  return layer::mean(layer::square(layer::fc<3>(f))) + layer::mean(layer::square(layer::fc<3>(g))) +
         layer::mean(layer::square(layer::fc<3>(h))) + layer::mean(layer::square(layer::fc<3>(w)));
});

}  // namespace test
