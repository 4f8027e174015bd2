// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region/patch/definition.hpp - operators on windows of images: spp, im2sequence.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/math.hpp>
#include <lamina/operators/operator_definition.hpp>
#include <lamina/operators/region/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Spatial pyramid pooling: the image is cut into 1, 4, 16, ... windows, and the largest element or
/// the average of each window is concatenated level by level. X [N, C, H, W], Out [N, C
/// (4^pyramid_height - 1) / 3]. Source: He et al. 2014. Fluid: spp.
struct spp : operator_definition {
  static constexpr const char* type = "spp";
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"pyramid_height", attribute_type::integer, 1},
       {"pooling_type", attribute_type::string, 0, "max"}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 1;
  static constexpr std::uint32_t gradient_outputs = 1;
};

}}}  // namespace lamina::operators

namespace lamina { inline namespace LAMINA_ABI {

/// The range of window k of `windows` along a side of an image. All windows have the length that
/// the longest one needs; padding is divided between both ends.
LAMINA_FN constexpr image_range pyramid_window(int k, int windows, int size) {
  const int length = (size + windows - 1) / windows;
  const int padding = (length * windows - size + 1) / 2;
  const int first = k * length - padding;
  const int end = first + length;
  return {first < 0 ? 0 : first < size ? first : size, end < 0 ? 0 : end < size ? end : size};
}

/// The index of the window that contains an element.
LAMINA_FN constexpr int pyramid_window_of(int at, int windows, int size) {
  const int length = (size + windows - 1) / windows;
  return (at + (length * windows - size + 1) / 2) / length;
}

}}  // namespace lamina

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Cuts each image into windows, which form a sequence in row-major order: Out [N * OH * OW, C * kh
/// * kw]. The paddings above, left, below and right hold 0. kernels are height and width. OH = (H +
/// above + below - kh) / stride + 1. Fluid: im2sequence.
struct im2sequence : operator_definition {
  static constexpr const char* type = "im2sequence";
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 3> attributes{
      {{"kernels", attribute_type::integers},
       {"strides", attribute_type::integers},
       {"paddings", attribute_type::integers}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 1;
  static constexpr int made_levels = 1;
};

using region_patch_operators = operator_list<spp, im2sequence>;

}}}  // namespace lamina::operators
