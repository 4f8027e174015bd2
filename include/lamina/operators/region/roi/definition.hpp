// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region/roi/definition.hpp - maxima (roi_pool) and averages (roi_align,
// psroi_pool) over the bins of regions of images.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/math.hpp>
#include <lamina/operators/operator_definition.hpp>
#include <lamina/operators/region/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// The largest element of each bin of regions of images: Out [regions, C, pooled_height,
/// pooled_width]. Argmax is its position in the channel. An empty bin has Argmax -1 and Out 0.
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

}}}  // namespace lamina::operators

namespace lamina { inline namespace LAMINA_ABI {

/// The rows (or columns) that belong to bin k of `bins` of a region, in an image with `size` rows
/// (or columns). All engines share this function, because a border that is rounded differently
/// would select a different region.
LAMINA_FN inline image_range region_bin(float first, float last, float scale, int bins, int k,
                                        int size) {
  const int begin = bounded_int(math::round(first * scale));
  const int end = bounded_int(math::round(last * scale));
  const int length = end - begin + 1 > 1 ? end - begin + 1 : 1;
  const float bin_length = static_cast<float>(length) / static_cast<float>(bins);
  const int from = bounded_int(math::floor(static_cast<float>(k) * bin_length)) + begin;
  const int to = bounded_int(math::ceil(static_cast<float>(k + 1) * bin_length)) + begin;
  return {from < 0 ? 0 : from < size ? from : size, to < 0 ? 0 : to < size ? to : size};
}

}}  // namespace lamina

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Averages over the bins of regions of images, without rounding of borders: Out [regions, C,
/// pooled_height, pooled_width]. A bin has sampling_ratio by sampling_ratio evenly spaced sample
/// points. If sampling_ratio is not positive, it has one point per element or fraction of an
/// element along each side. The value of a point is interpolated; it is 0 if the point is more than
/// one element outside of the image. X and ROIs are as in roi_pool. With `aligned`, regions lie
/// half an element before, so that 0 is the edge of the first element, and may be smaller than an
/// element; else they are at least one element wide. Source: He et al. 2017. Fluid: roi_align.
struct roi_align : operator_definition {
  static constexpr const char* type = "roi_align";
  static constexpr std::array<slot_desc, 2> inputs{{{"X"}, {"ROIs"}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 5> attributes{
      {{"spatial_scale", attribute_type::real, 1},
       {"pooled_height", attribute_type::integer, 1},
       {"pooled_width", attribute_type::integer, 1},
       {"sampling_ratio", attribute_type::integer, -1},
       {"aligned", attribute_type::boolean, 0}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 3;
};

}}}  // namespace lamina::operators

namespace lamina { inline namespace LAMINA_ABI {

/// One side of a region that is cut into bins for roi_align: its beginning, the length of a bin,
/// and the number of sample points per bin.
struct region_side {
  float begin, bin_length;
  int points;

  /// The coordinate of sample point k of bin i.
  LAMINA_FN float at(int i, int k) const {
    return begin + static_cast<float>(i) * bin_length +
           (static_cast<float>(k) + 0.5f) * bin_length / static_cast<float>(points);
  }
};
LAMINA_FN inline region_side region_side_of(float first, float last, float scale, int bins,
                                            int ratio, bool aligned) {
  const float begin = first * scale - (aligned ? 0.5f : 0.0f);
  const float rest = last * scale - first * scale;
  const float length = rest < 1.0f && !aligned ? 1.0f : rest;
  const float bin_length = length / static_cast<float>(bins);
  // A bin that is too long to iterate over gets no sample points.
  const bool walks = bin_length < static_cast<float>(1 << 28);
  return {begin, bin_length,
          ratio > 0 ? ratio
          : walks   ? static_cast<int>(math::ceil(bin_length > 0 ? bin_length : 0.0f))
                    : 0};
}

/// Two neighbouring elements along a side of an image, and the weight of the second one at a point
/// between them.
struct neighbours {
  int low, high;
  float fraction;
  bool outside;  // more than one element outside of the image
};
LAMINA_FN inline neighbours neighbours_of(float at, int size) {
  // NaN counts as outside of every image.
  if (!(at >= -1.0f && at <= static_cast<float>(size))) return {0, 0, 0, true};
  const float from = at < 0 ? 0.0f : at;
  const int low = static_cast<int>(from);
  if (low >= size - 1) return {size - 1, size - 1, 0, false};
  return {low, low + 1, from - static_cast<float>(low), false};
}

}}  // namespace lamina

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Averages over the bins of regions of images, where each bin reads its own channel. Out is
/// [regions, output_channels, pooled_height, pooled_width], X is [N, output_channels *
/// pooled_height * pooled_width, H, W]. The average of a bin without elements is 0. Source: Dai et
/// al. 2016. Fluid: psroi_pool.
struct psroi_pool : operator_definition {
  static constexpr const char* type = "psroi_pool";
  static constexpr std::array<slot_desc, 2> inputs{{{"X"}, {"ROIs"}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 4> attributes{
      {{"output_channels", attribute_type::integer},
       {"spatial_scale", attribute_type::real, 1},
       {"pooled_height", attribute_type::integer, 1},
       {"pooled_width", attribute_type::integer, 1}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 3;
};

using region_roi_operators = operator_list<roi_pool, roi_align, psroi_pool>;

}}}  // namespace lamina::operators

namespace lamina { inline namespace LAMINA_ABI {

/// The rows (or columns) that belong to bin k of `bins` of a region, for psroi_pool. The corners
/// of the region are rounded before they are scaled.
LAMINA_FN inline image_range scored_bin(float first, float last, float scale, int bins, int k,
                                        int size) {
  const float begin = math::round(first) * scale;
  const float rest = (math::round(last) + 1.0f) * scale - begin;
  const float bin_length = (rest < 0.1f ? 0.1f : rest) / static_cast<float>(bins);
  // In double the product is exact, so a fused multiply-add gives the same result as separate
  // operations.
  const double exact = static_cast<double>(bin_length), first_at = static_cast<double>(begin);
  const int from = bounded_int(math::floor(static_cast<float>(k * exact + first_at)));
  const int to = bounded_int(math::ceil(static_cast<float>((k + 1) * exact + first_at)));
  return {from < 0 ? 0 : from < size ? from : size, to < 0 ? 0 : to < size ? to : size};
}

}}  // namespace lamina
