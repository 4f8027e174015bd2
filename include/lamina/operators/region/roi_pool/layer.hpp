// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region/roi_pool/layer.hpp - maxima over the parts of regions.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>
#include <lamina/layers/window.hpp>
#include <lamina/operators/region/layer.hpp>
#include <lamina/operators/region/roi_pool/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of roi_pool.
struct roi_pool_attr {
  float spatial_scale = 1;  // factor from region coordinates to image elements
  std::string_view name{};
};

/// Divides regions of images into `Size` parts and takes the largest element of each part:
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

}}}  // namespace lamina::layer
