// SPDX-License-Identifier: Apache-2.0
// lamina/benchmarks/networks/lenet.hpp - records the network of workload W2.
#pragma once

#include <cstdint>

#include <lamina/layers/layers.hpp>

namespace networks {

namespace layer = lamina::layer;

/// W2: the LeNet of PaddlePaddle's book.
constexpr auto lenet(lamina::block& main) {
  constexpr lamina::window half{.stride = 2};
  auto image = layer::data<"image", float, 1, 28, 28>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto c1 = layer::simple_img_conv_pool<20, 5, 2, half>(image, {.act = lamina::activation::relu});
  auto c2 = layer::simple_img_conv_pool<50, 5, 2, half>(c1, {.act = lamina::activation::relu});
  auto hidden = layer::fc<500>(c2, {.act = lamina::activation::relu});
  auto logits = layer::fc<10>(hidden, {.name = "logits"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
}

}  // namespace networks
