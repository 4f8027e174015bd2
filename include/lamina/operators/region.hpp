// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region.hpp - parts of images: regions, pyramids, patches as sequences.
#pragma once

#include <lamina/core/math.hpp>
#include <lamina/operators/operator_definition.hpp>

namespace lamina {

/// The largest element of each part of regions of images: Out [regions, C, pooled_height,
/// pooled_width], Argmax its place in the channel, -1 in an empty part, whose Out is 0. ROIs
/// [regions, 4] are left, top, right, bottom, times spatial_scale elements of X [N, C, H, W];
/// sequence i of them lies in image i. Source: Girshick 2015. Fluid: roi_pool.
struct roi_pool : operator_definition {
  static constexpr const char* type = "roi_pool";
  static constexpr std::array<slot_desc, 2> inputs{{{"X"}, {"ROIs"}}};
  static constexpr std::array<slot_desc, 2> outputs{{{"Out"}, {"Argmax", false, false, true}}};
  static constexpr std::array<attribute_desc, 3> attributes{
      {{"pooled_height", attribute_type::integer, 1},
       {"pooled_width", attribute_type::integer, 1},
       {"spatial_scale", attribute_type::real, 1}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 3;
  static constexpr std::uint32_t gradient_outputs = 2;
};

/// A range of rows or columns, `end` not included.
struct image_range {
  int begin, end;
};

/// The rows (or columns) of an image with `size` of them that part k of `parts` of a region holds.
/// One function for all engines: a border that is rounded otherwise is another region.
LAMINA_FN inline image_range region_part(float first, float last, float scale, int parts, int k,
                                         int size) {
  const int begin = static_cast<int>(math::round(first * scale));
  const int end = static_cast<int>(math::round(last * scale));
  const int length = end - begin + 1 > 1 ? end - begin + 1 : 1;
  const float part = static_cast<float>(length) / static_cast<float>(parts);
  const int from = static_cast<int>(math::floor(static_cast<float>(k) * part)) + begin;
  const int to = static_cast<int>(math::ceil(static_cast<float>(k + 1) * part)) + begin;
  return {from < 0 ? 0 : from < size ? from : size, to < 0 ? 0 : to < size ? to : size};
}

/// The largest elements or the averages of an image cut into 1, 4, 16 ... windows, side by side:
/// X [N, C, H, W], Out [N, C (4^pyramid_height - 1) / 3], level by level.
/// Source: He et al. 2014. Fluid: spp.
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

/// Window k of `windows` along a side of an image: all are as long as the longest has to be, and
/// padding is shared by both ends.
LAMINA_FN constexpr image_range pyramid_window(int k, int windows, int size) {
  const int length = (size + windows - 1) / windows;
  const int padding = (length * windows - size + 1) / 2;
  const int first = k * length - padding;
  const int end = first + length;
  return {first < 0 ? 0 : first < size ? first : size, end < 0 ? 0 : end < size ? end : size};
}

/// The window that an element is in.
LAMINA_FN constexpr int pyramid_window_of(int at, int windows, int size) {
  const int length = (size + windows - 1) / windows;
  return (at + (length * windows - size + 1) / 2) / length;
}

/// The windows of each image as a sequence, row by row: Out [N * OH * OW, C * kh * kw], paddings
/// above, left, below and right are 0. kernels are height and width.
/// OH = (H + above + below - kh) / stride + 1. Fluid: im2sequence.
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
};

}  // namespace lamina
