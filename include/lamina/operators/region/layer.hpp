// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region/layer.hpp - parts of images: roi_pool, roi_align, psroi_pool, spp,
// im2sequence.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/pooling_type.hpp>
#include <lamina/layers/one_operator.hpp>
#include <lamina/layers/sequence_rows.hpp>
#include <lamina/layers/window.hpp>
#include <lamina/operators/region/definition.hpp>

namespace lamina::inline LAMINA_ABI::layer {

/// Options of roi_pool.
struct roi_pool_attr {
  float spatial_scale = 1;  // from the numbers of a region to elements of the image
  std::string_view name{};
};
/// Options of roi_align.
struct roi_align_attr {
  float spatial_scale = 1;  // from the numbers of a region to elements of the image
  int sampling_ratio = -1;  // points along each side of a part; -1: one for each begun element
  std::string_view name{};
};
/// Options of psroi_pool.
struct psroi_pool_attr {
  float spatial_scale = 1;  // from the numbers of a region to elements of the image
  std::string_view name{};
};
/// Options of spp.
struct spp_attr {
  pooling_type type = pooling_type::max;  // or pooling_type::average
  std::string_view name{};
};
/// Options of im2sequence.
struct im2sequence_attr {
  std::string_view name{};
};

namespace detail {
/// Whether S are sequences of regions of four numbers, one sequence per image of rows R.
template <class T, class R, class S, class Regions>
constexpr bool are_regions() {
  if constexpr (is_tokens<S>)
    return is_real<T> && has_rows<R> && __is_same(Regions, variable<T, S, 4>) &&
           __is_same(parent_rows<S>, R);
  else
    return false;
}
}  // namespace detail

/// The largest element of each of `Size` parts of regions of images: `roi_pool<7>(image, regions)`.
/// Regions are a sequence for each image, each left, top, right, bottom; the result has their rows
/// and shape [C, height, width of Size]. Source: Girshick 2015. Fluid: layers.roi_pool.
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
  b.add_operator(schema_of<lamina::roi_pool>(), {x.id, regions.id}, {y.id, position},
                 b.attribute_list(height, width, attr.spatial_scale));
  return layer.returns(y);
}

/// The averages of `Size` parts of regions of images, at points that are not rounded:
/// `roi_align<7>(image, regions)`. Regions as for roi_pool; the result has their rows and shape [C,
/// height, width of Size]. Source: He et al. 2017. Fluid: layers.roi_align.
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
  b.add_operator(schema_of<lamina::roi_align>(), {x.id, regions.id}, {y.id},
                 b.attribute_list(attr.spatial_scale, height, width, attr.sampling_ratio));
  return layer.returns(y);
}

/// The averages of `Size` parts of regions of images, where part (i, j) reads its own channel:
/// `psroi_pool<3>(scores, regions)` of C channels gives [C / (height * width of Size), height,
/// width] for each region. Source: Dai et al. 2016. Fluid: layers.psroi_pool.
template <extent2 Size, class T, class R, int C, int H, int W, class U, class S, int... D>
constexpr auto psroi_pool(variable<T, R, C, H, W> x, variable<U, S, D...> regions,
                          const options<psroi_pool_attr, T>& attr = {},
                          int line = __builtin_LINE()) {
  using image = variable<T, R, C, H, W>;
  using given = variable<U, S, D...>;
  constexpr int parts = Size.least(1) ? Size.height * Size.width : 0;
  constexpr bool good =
      parts > 0 && C % (parts > 0 ? parts : 1) == 0 && detail::are_regions<T, R, S, given>();
  static_assert(check<good, gets<Size.height, Size.width>, gets_type<image, given>>,
                "lamina: psroi_pool: a sequence of regions of four numbers for each image, and as "
                "many channels for each part");
  require_one_program(x, regions, line);
  constexpr int height = good ? Size.height : 1, width = good ? Size.width : 1;
  program_builder& b = *x.builder;
  layer_helper layer(b, "psroi_pool", attr.name);
  const auto y = layer.template output<variable<T, S, C / (height * width), height, width>>();
  b.add_operator(schema_of<lamina::psroi_pool>(), {x.id, regions.id}, {y.id},
                 b.attribute_list(C / (height * width), attr.spatial_scale, height, width));
  return layer.returns(y);
}

/// Pools an image cut into 1, 4, 16 ... windows, in `Levels` such cuts, and concatenates the
/// results: [C * (4^Levels - 1) / 3] numbers for an image of any size. Source: He et al. 2014.
/// PaddlePaddle: spp_layer; Fluid: the operator spp.
template <int Levels, class T, class R, int C, int H, int W>
constexpr auto spp(variable<T, R, C, H, W> x, const options<spp_attr, T>& attr = {},
                   int line = __builtin_LINE()) {
  // Every window has to hold something.
  constexpr bool good = [] {
    if (!detail::is_real<T> || !has_rows<R> || Levels < 1 || Levels > 10) return false;
    for (int level = 0; level < Levels; ++level)
      for (int k = 0; k < 1 << level; ++k) {
        const image_range rows = pyramid_window(k, 1 << level, H);
        const image_range columns = pyramid_window(k, 1 << level, W);
        if (rows.begin >= rows.end || columns.begin >= columns.end) return false;
      }
    return true;
  }();
  static_assert(check<good, gets<Levels>, gets_type<variable<T, R, C, H, W>>>,
                "lamina: spp: floating point images, one per row, from which each window of each "
                "level gets a part");
  constexpr int windows = good ? ((1 << 2 * Levels) - 1) / 3 : 1;
  program_builder& b = *x.builder;
  if (attr.type != pooling_type::max && attr.type != pooling_type::average)
    b.report(fault_kind::pooling_type, line, attr.name, nullptr, 0, nullptr, 0);
  layer_helper layer(b, "spp", attr.name);
  const auto y = layer.template output<variable<T, R, C * windows>>();
  b.add_operator(
      schema_of<lamina::spp>(), {x.id}, {y.id},
      b.attribute_list(Levels, b.text(attr.type == pooling_type::average ? "avg" : "max")));
  return layer.returns(y);
}

/// The windows of each image as a sequence, row by row: `im2sequence<"columns", lamina::extent2{48,
/// 1}>(image)` reads a line of text from left to right. Rows tokens<"columns", R>, each [C * height
/// * width] numbers. Fluid: layers.im2sequence.
template <fixed_string Name, extent2 Size, window Window = window{}, class T, class R, int C, int H,
          int W>
constexpr auto im2sequence(variable<T, R, C, H, W> x,
                           const options<im2sequence_attr, T>& attr = {}) {
  constexpr extent2 out = detail::windows_in<H, W>(Size, Window);
  constexpr bool good = detail::is_real<T> && has_rows<R> && Size.least(1) &&
                        Window.stride.least(1) && Window.padding.least(0) && out.least(1) &&
                        Window.dilation == 1 && Window.groups == 1 && !Window.ceil_mode;
  static_assert(
      check<good, expects<Size.height, Size.width>, gets_type<variable<T, R, C, H, W>>>,
      "lamina: im2sequence: floating point images, one per row, into which a window fits; "
      "stride and padding alone are used");
  constexpr int elements = good ? C * Size.height * Size.width : 1;
  program_builder& b = *x.builder;
  layer_helper layer(b, "im2sequence", attr.name);
  const auto y = layer.template output<variable<T, tokens<Name, R>, elements>>();
  const int around[] = {Window.padding.height, Window.padding.width, Window.padding.height,
                        Window.padding.width};
  const attribute_value kernels = detail::pair_attribute(b, Size);
  const attribute_value strides = detail::pair_attribute(b, Window.stride);
  const attribute_value paddings = b.integer_list(around, 4);
  b.add_operator(schema_of<lamina::im2sequence>(), {x.id}, {y.id},
                 b.attribute_list(kernels, strides, paddings));
  return layer.returns(y);
}

}  // namespace lamina::inline LAMINA_ABI::layer
