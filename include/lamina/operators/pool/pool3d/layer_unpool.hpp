// SPDX-License-Identifier: Apache-2.0
// lamina/operators/pool/pool3d/layer_unpool.hpp - max_pool2d_with_index, which also returns the
// positions of the largest elements, and its inverse, unpool.
#pragma once

#include <lamina/core/config.hpp>

#include <tuple>

#include <lamina/layers/one_operator.hpp>
#include <lamina/layers/window.hpp>
#include <lamina/operators/pool/pool2d/definition.hpp>
#include <lamina/operators/pool/pool3d/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of max_pool2d_with_index and unpool.
struct unpool_attr {
  std::string_view name{};
};

namespace detail {
constexpr bool is_plain_window(extent2 size, const window& w) {
  return size.least(1) && w.stride.least(1) && w.padding.least(0) &&
         w.padding.height < size.height && w.padding.width < size.width && w.dilation == 1 &&
         w.groups == 1 && !w.ceil_mode;
}
}  // namespace detail

/// Returns the largest element of each window of an image [C, H, W], and the position of this
/// element in its channel, int32: `auto [y, positions] = max_pool2d_with_index<2,
/// lamina::window{.stride = 2}>(x)`. Fluid: the operator max_pool2d_with_index.
template <extent2 Size, window Window = window{}, class T, class R, int C, int H, int W>
constexpr auto max_pool2d_with_index(variable<T, R, C, H, W> x,
                                     const options<unpool_attr, T>& attr = {}) {
  constexpr extent2 out = detail::windows_in<H, W>(Size, Window);
  constexpr bool good =
      detail::is_real<T> && has_rows<R> && detail::is_plain_window(Size, Window) && out.least(1);
  static_assert(
      check<good, expects<Size.height, Size.width>, gets_type<variable<T, R, C, H, W>>>,
      "lamina: max_pool2d_with_index: floating point images, one per row, into which a "
      "window fits; padding is below its size; ceil_mode, dilation and groups are not for "
      "it");
  constexpr int height = good ? out.height : H, width = good ? out.width : W;
  program_builder& b = *x.builder;
  layer_helper layer(b, "max_pool2d_with_index", attr.name);
  const auto y = layer.template output<variable<T, R, C, height, width>>();
  const auto positions = layer.template output<variable<std::int32_t, R, C, height, width>>();
  detail::without_gradient(layer, positions.id);
  const attribute_value ksize = detail::pair_attribute(b, Size);
  const attribute_value strides = detail::pair_attribute(b, Window.stride);
  const attribute_value paddings = detail::pair_attribute(b, Window.padding);
  b.add_operator(schema_of<operators::max_pool2d_with_index>(), {x.id}, {y.id, positions.id},
                 b.attribute_list(ksize, false, false, strides, paddings));
  return std::tuple{layer.returns(y), positions};
}

/// The inverse of max_pool2d_with_index: returns an image that has the elements of x at the given
/// positions in each channel, and zeros elsewhere. Example: `unpool<2, lamina::window{.stride =
/// 2}>(y, positions)`. Size and window must be those of the pooling, because the size of the result
/// follows from them. The result is [C, OH, OW] with OH = (H - 1) stride - 2 padding + size.
/// Source: Zeiler and Fergus 2014. Fluid: the operator unpool.
template <extent2 Size, window Window = window{}, class T, class R, int C, int H, int W,
          class Index>
constexpr auto unpool(variable<T, R, C, H, W> x, Index positions,
                      const options<unpool_attr, T>& attr = {}, int line = __builtin_LINE()) {
  constexpr int height = (H - 1) * Window.stride.height - 2 * Window.padding.height + Size.height;
  constexpr int width = (W - 1) * Window.stride.width - 2 * Window.padding.width + Size.width;
  constexpr bool good = detail::is_real<T> && has_rows<R> &&
                        detail::is_plain_window(Size, Window) && height > 0 && width > 0 &&
                        __is_same(Index, variable<std::int32_t, R, C, H, W>);
  static_assert(
      check<good, expects_type<variable<std::int32_t, R, C, H, W>>, gets_type<Index>>,
      "lamina: unpool: floating point images, one per row, an int32 position for each element; "
      "padding is below the size of a window, ceil_mode is not for it");
  require_one_program(x, positions, line);
  program_builder& b = *x.builder;
  layer_helper layer(b, "unpool", attr.name);
  const auto y =
      layer.template output<variable<T, R, C, (good ? height : H), (good ? width : W)>>();
  const attribute_value ksize = detail::pair_attribute(b, Size);
  const attribute_value strides = detail::pair_attribute(b, Window.stride);
  const attribute_value paddings = detail::pair_attribute(b, Window.padding);
  b.add_operator(schema_of<operators::unpool>(), {x.id, positions.id}, {y.id},
                 b.attribute_list(ksize, strides, paddings, b.text("max")));
  return layer.returns(y);
}

}}}  // namespace lamina::layer
