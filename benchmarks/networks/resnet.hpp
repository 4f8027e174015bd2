// SPDX-License-Identifier: Apache-2.0
// lamina/benchmarks/networks/resnet.hpp - records the network of workload W7.
#pragma once

#include <cstdint>

#include <lamina/layers/layers.hpp>

namespace networks {

namespace layer = lamina::layer;

/// W7: a ResNet on 32 x 32 images, three stages of two basic blocks with 16, 32 and 64 channels.
constexpr auto resnet(lamina::block& main) {
  auto image = layer::data<"image", float, 3, 32, 32>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto begin = layer::conv_bn<16, 3, lamina::window{.padding = 1}>(image);
  auto s1 = layer::basic_block<16>(layer::basic_block<16>(begin));
  auto s2 = layer::basic_block<32>(layer::basic_block<32, 2>(s1));
  auto s3 = layer::basic_block<64>(layer::basic_block<64, 2>(s2));
  auto pooled = layer::global_pool2d(s3, {.type = lamina::pooling_type::average});
  auto logits = layer::fc<10>(pooled, {.name = "logits"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
}

}  // namespace networks
