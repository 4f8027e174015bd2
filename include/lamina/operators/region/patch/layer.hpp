// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region/patch/layer.hpp - operators on windows of images: spp, im2sequence.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/pooling_type.hpp>
#include <lamina/layers/one_operator.hpp>
#include <lamina/layers/window.hpp>
#include <lamina/operators/region/definition.hpp>
#include <lamina/operators/region/patch/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of spp.
struct spp_attr {
  pooling_type type = pooling_type::max;  // or pooling_type::average
  std::string_view name{};
};
/// Options of im2sequence.
struct im2sequence_attr {
  std::string_view name{};
};

/// Spatial pyramid pooling: cuts an image into 1, 4, 16, ... windows (`Levels` such divisions),
/// pools each window and concatenates the results. The result has [C * (4^Levels - 1) / 3] numbers
/// for every image size. Source: He et al. 2014. PaddlePaddle: spp_layer; Fluid: the operator spp.
template <int Levels, class T, class R, int C, int H, int W>
constexpr auto spp(variable<T, R, C, H, W> x, const options<spp_attr, T>& attr = {},
                   int line = __builtin_LINE()) {
  // Every window must contain an element.
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
      schema_of<operators::spp>(), {x.id}, {y.id},
      b.attribute_list(Levels, b.text(attr.type == pooling_type::average ? "avg" : "max")));
  return layer.returns(y);
}

/// Cuts each image into windows, which form a sequence in row-major order: `im2sequence<"columns",
/// lamina::extent2{48, 1}>(image)` reads a line of text from left to right. The result has rows
/// tokens<"columns", R>, each [C * height * width] numbers. Fluid: layers.im2sequence.
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
  b.add_operator(schema_of<operators::im2sequence>(), {x.id}, {y.id},
                 b.attribute_list(kernels, strides, paddings));
  return layer.returns(y);
}

}}}  // namespace lamina::layer
