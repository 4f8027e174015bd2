// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region/roi_pool/definition.hpp - maxima over the parts of regions.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/math.hpp>
#include <lamina/operators/operator_definition.hpp>
#include <lamina/operators/region/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// The largest element of each part of regions of images: Out [regions, C, pooled_height,
/// pooled_width]. Argmax is its position in the channel. An empty part has Argmax -1 and Out 0.
/// ROIs [regions, 4] are left, top, right and bottom; times spatial_scale they are element
/// positions of X [N, C, H, W]. Sequence i of ROIs belongs to image i. Source: Girshick 2015.
/// Fluid: roi_pool.
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

using region_roi_pool_operators = operator_list<roi_pool>;

}}}  // namespace lamina::operators

namespace lamina { inline namespace LAMINA_ABI {

/// The rows (or columns) that belong to part k of `parts` of a region, in an image with `size` rows
/// (or columns). All engines share this function, because a border that is rounded differently
/// would select a different region.
LAMINA_FN inline image_range region_part(float first, float last, float scale, int parts, int k,
                                         int size) {
  const int begin = bounded_int(math::round(first * scale));
  const int end = bounded_int(math::round(last * scale));
  const int length = end - begin + 1 > 1 ? end - begin + 1 : 1;
  const float part = static_cast<float>(length) / static_cast<float>(parts);
  const int from = bounded_int(math::floor(static_cast<float>(k) * part)) + begin;
  const int to = bounded_int(math::ceil(static_cast<float>(k + 1) * part)) + begin;
  return {from < 0 ? 0 : from < size ? from : size, to < 0 ? 0 : to < size ? to : size};
}

}}  // namespace lamina
