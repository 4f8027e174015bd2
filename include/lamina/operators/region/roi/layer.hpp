// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region/roi/layer.hpp - maxima (roi_pool) and averages (roi_align, psroi_pool)
// over the bins of regions of images.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>
#include <lamina/layers/sequence_rows.hpp>
#include <lamina/layers/window.hpp>
#include <lamina/operators/region/roi/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer::detail {

/// Whether S are sequences of regions with four numbers each, one sequence per image with rows R.
template <class T, class R, class S, class Regions>
constexpr bool are_regions() {
  if constexpr (is_tokens<S>)
    return is_real<T> && has_rows<R> && __is_same(Regions, variable<T, S, 4>) &&
           __is_same(parent_rows<S>, R);
  else
    return false;
}

}}}  // namespace lamina::layer::detail

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of roi_pool.
struct roi_pool_attr {
  float spatial_scale = 1;  // factor from region coordinates to image elements
  std::string_view name{};
};

/// Divides regions of images into `Size` bins and takes the largest element of each bin:
/// `roi_pool<7>(image, regions)`. Each image has a sequence of regions; a region is left, top,
/// right, bottom. The result has the rows of the regions and shape [C, height, width of Size].
/// Source: Girshick 2015. Fluid: layers.roi_pool.
template <extent2 Size, class T, class R, int C, int H, int W, class U, class S, int... D>
constexpr auto roi_pool(variable<T, R, C, H, W> x, variable<U, S, D...> regions,
                        const options<roi_pool_attr, T>& attr = {}, int line = __builtin_LINE()) {
  using image = variable<T, R, C, H, W>;
  using given = variable<U, S, D...>;
  constexpr bool good = Size.least(1) && detail::are_regions<T, R, S, given>();
  static_assert(check<good, gets_type<image, given>>,
                "lamina: roi_pool: a sequence of regions of four numbers for each image, and the "
                "size is positive");
  require_one_program(x, regions, line);
  constexpr int height = good ? Size.height : 1, width = good ? Size.width : 1;
  program_builder& b = *x.builder;
  layer_helper layer(b, "roi_pool", attr.name);
  const auto y = layer.template output<variable<T, S, C, height, width>>();
  const int position = detail::without_gradient(
      layer, layer.template output<variable<std::int64_t, S, C, height, width>>().id);
  b.add_operator(schema_of<operators::roi_pool>(), {x.id, regions.id}, {y.id, position},
                 b.attribute_list(height, width, attr.spatial_scale));
  return layer.returns(y);
}

/// Options of roi_align.
struct roi_align_attr {
  float spatial_scale = 1;  // factor from region coordinates to image elements
  int sampling_ratio = -1;  // sample points per side of a bin; -1: its length rounded up
  bool aligned = false;     // 0 is the edge of the first element, not its centre
  std::string_view name{};
};
/// Options of psroi_pool.
struct psroi_pool_attr {
  float spatial_scale = 1;  // factor from region coordinates to image elements
  std::string_view name{};
};

/// Divides regions of images into `Size` bins and averages each bin over interpolated sample
/// points, without rounding of borders: `roi_align<7>(image, regions)`. Regions are as in roi_pool;
/// the result has their rows and shape [C, height, width of Size]. Source: He et al. 2017. Fluid:
/// layers.roi_align.
template <extent2 Size, class T, class R, int C, int H, int W, class U, class S, int... D>
constexpr auto roi_align(variable<T, R, C, H, W> x, variable<U, S, D...> regions,
                         const options<roi_align_attr, T>& attr = {}, int line = __builtin_LINE()) {
  using image = variable<T, R, C, H, W>;
  using given = variable<U, S, D...>;
  constexpr bool good = Size.least(1) && detail::are_regions<T, R, S, given>();
  static_assert(check<good, gets_type<image, given>>,
                "lamina: roi_align: a sequence of regions of four numbers for each image, and the "
                "size is positive");
  require_one_program(x, regions, line);
  constexpr int height = good ? Size.height : 1, width = good ? Size.width : 1;
  program_builder& b = *x.builder;
  layer_helper layer(b, "roi_align", attr.name);
  const auto y = layer.template output<variable<T, S, C, height, width>>();
  b.add_operator(
      schema_of<operators::roi_align>(), {x.id, regions.id}, {y.id},
      b.attribute_list(attr.spatial_scale, height, width, attr.sampling_ratio, attr.aligned));
  return layer.returns(y);
}

/// Divides regions of images into `Size` bins and averages each bin, where each bin (i, j) reads
/// a separate channel: `psroi_pool<3>(scores, regions)`. From C channels, the result is [C /
/// (height * width of Size), height, width] for each region. Source: Dai et al. 2016. Fluid:
/// layers.psroi_pool.
template <extent2 Size, class T, class R, int C, int H, int W, class U, class S, int... D>
constexpr auto psroi_pool(variable<T, R, C, H, W> x, variable<U, S, D...> regions,
                          const options<psroi_pool_attr, T>& attr = {},
                          int line = __builtin_LINE()) {
  using image = variable<T, R, C, H, W>;
  using given = variable<U, S, D...>;
  constexpr int bins = Size.least(1) ? Size.height * Size.width : 0;
  constexpr bool good =
      bins > 0 && C % (bins > 0 ? bins : 1) == 0 && detail::are_regions<T, R, S, given>();
  static_assert(check<good, gets<Size.height, Size.width>, gets_type<image, given>>,
                "lamina: psroi_pool: a sequence of regions of four numbers for each image, and as "
                "many channels for each bin");
  require_one_program(x, regions, line);
  constexpr int height = good ? Size.height : 1, width = good ? Size.width : 1;
  program_builder& b = *x.builder;
  layer_helper layer(b, "psroi_pool", attr.name);
  const auto y = layer.template output<variable<T, S, C / (height * width), height, width>>();
  b.add_operator(schema_of<operators::psroi_pool>(), {x.id, regions.id}, {y.id},
                 b.attribute_list(C / (height * width), attr.spatial_scale, height, width));
  return layer.returns(y);
}

}}}  // namespace lamina::layer
