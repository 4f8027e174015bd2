// SPDX-License-Identifier: Apache-2.0
// resnet18.hpp - ResNet-18 without its last layer, with the structure and the names of torchvision.
#pragma once

#include <string_view>

#include <lamina/lamina.hpp>
#include <lamina/program/composed_name.hpp>

namespace examples {

/// Makes "layer1.0.conv1" from "layer1", ".0" and ".conv1".
constexpr lamina::composed_name part_of(std::string_view stage, std::string_view block,
                                        std::string_view part) {
  return {stage, block, part};
}

/// Records a convolution without bias and a batch norm, named after torchvision's modules.
template <int Filters, int Size, lamina::window Window>
constexpr auto conv_bn(auto x, std::string_view conv, std::string_view norm,
                       lamina::activation act = lamina::activation::identity) {
  namespace layer = lamina::layer;
  auto y = layer::conv2d<Filters, Size, Window>(x, {.bias = false, .name = conv});
  return layer::batch_norm(y, {.act = act, .name = norm});
}

/// Records torchvision's BasicBlock.
template <int Filters, int Stride>
constexpr auto basic_block(auto x, std::string_view stage, std::string_view block) {
  namespace layer = lamina::layer;
  auto h = conv_bn<Filters, 3, lamina::window{.stride = Stride, .padding = 1}>(
      x, part_of(stage, block, ".conv1"), part_of(stage, block, ".bn1"), lamina::activation::relu);
  h = conv_bn<Filters, 3, lamina::window{.padding = 1}>(h, part_of(stage, block, ".conv2"),
                                                        part_of(stage, block, ".bn2"));
  if constexpr (Stride == 1)
    return layer::relu(h + x);
  else
    return layer::relu(
        h + conv_bn<Filters, 1, lamina::window{.stride = Stride}>(
                x, part_of(stage, block, ".downsample.0"), part_of(stage, block, ".downsample.1")));
}
/// Records a stage of two blocks.
template <int Filters, int Stride>
constexpr auto stage_of(auto x, std::string_view stage) {
  return basic_block<Filters, 1>(basic_block<Filters, Stride>(x, stage, ".0"), stage, ".1");
}

/// Records ResNet-18 up to its 512 features per image. Source: He et al. 2015.
constexpr auto resnet18(auto image) {
  namespace layer = lamina::layer;
  auto h = conv_bn<64, 7, lamina::window{.stride = 2, .padding = 3}>(image, "conv1", "bn1",
                                                                     lamina::activation::relu);
  auto small = layer::pool2d<3, lamina::window{.stride = 2, .padding = 1}>(h);
  auto fourth = stage_of<512, 2>(
      stage_of<256, 2>(stage_of<128, 2>(stage_of<64, 1>(small, "layer1"), "layer2"), "layer3"),
      "layer4");
  return layer::global_pool2d(fourth, {.type = lamina::pooling_type::average});
}

}  // namespace examples
