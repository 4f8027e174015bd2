// SPDX-License-Identifier: Apache-2.0
// lamina/operators/pool/pool2d/layer.hpp - pool2d, global_pool2d and adaptive_pool2d: the largest
// or the average element of windows of images.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/pooling_type.hpp>
#include <lamina/layers/one_operator.hpp>
#include <lamina/layers/window.hpp>
#include <lamina/operators/pool/pool2d/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of pool2d, global_pool2d, adaptive_pool2d and the corresponding layers of pool3d.
struct pool2d_attr {
  pooling_type type = pooling_type::max;  // or pooling_type::average
  bool exclusive = true;                  // averages do not count padding
  std::string_view name{};
};

namespace detail {

/// Records a pool2d. The sizes and flags have the meaning of Fluid's attributes.
template <class Out>
constexpr Out add_pool2d(program_builder& b, int x, const pool2d_attr& attr, extent2 size,
                         const window& w, bool global, bool adaptive, int line) {
  if (attr.type != pooling_type::max && attr.type != pooling_type::average)
    b.report(fault_kind::pooling_type, line, attr.name, nullptr, 0, nullptr, 0);
  layer_helper layer(b, adaptive ? "adaptive_pool2d" : "pool2d", attr.name);
  const Out y = layer.template output<Out>();
  const attribute_value ksize = pair_attribute(b, size);
  const attribute_value strides = pair_attribute(b, w.stride);
  const attribute_value paddings = pair_attribute(b, w.padding);
  b.add_operator(
      schema_of<operators::pool2d>(), {x}, {y.id},
      b.attribute_list(b.text(attr.type == pooling_type::average ? "avg" : "max"), ksize, global,
                       strides, paddings, attr.exclusive, adaptive, w.ceil_mode, b.text("NCHW")));
  return layer.returns(y);
}

}  // namespace detail

/// Returns the largest element or, with pooling_type::average, the average of each window of an
/// image [C, H, W]: `pool2d<2, lamina::window{.stride = 2}>(x)`. The result is [C, OH, OW] with OH
/// = (H + 2 padding - size) / stride + 1, rounded up with window::ceil_mode. An average divides by
/// the number of elements of the image in the window. If `exclusive` is false, it divides by the
/// size of the window, even if the last window ends beyond the padding because of ceil_mode. Fluid:
/// layers.pool2d.
template <extent2 Size, window Window = window{}, class T, class R, int C, int H, int W>
constexpr auto pool2d(variable<T, R, C, H, W> x, const options<pool2d_attr, T>& attr = {},
                      int line = __builtin_LINE()) {
  constexpr bool real = detail::is_real<T> && has_rows<R>;
  static_assert(check<real, gets_type<variable<T, R, C, H, W>>>,
                "lamina: pool2d: the images are floating point, one per row");
  constexpr bool sound = Size.least(1) && Window.stride.least(1) && Window.padding.least(0) &&
                         Window.padding.height < Size.height && Window.padding.width < Size.width &&
                         Window.dilation == 1 && Window.groups == 1;
  static_assert(check<sound, expects<Size.height, Size.width>,
                      gets<Window.padding.height, Window.padding.width>>,
                "lamina: pool2d: sizes and strides are positive, padding is below the size, "
                "dilation and groups are 1");
  constexpr extent2 out = detail::windows_in<H, W>(Size, Window);
  // With ceil_mode, the last window must not begin beyond the image, because it would have no
  // elements.
  constexpr bool fits =
      !sound ||
      (out.least(1) && (out.height - 1) * Window.stride.height - Window.padding.height < H &&
       (out.width - 1) * Window.stride.width - Window.padding.width < W);
  static_assert(check<fits, expects<Size.height, Size.width>, gets<H, W>>,
                "lamina: pool2d: every window holds a part of the image");
  constexpr bool good = real && sound && fits;
  using result = variable<T, R, C, (good ? out.height : H), (good ? out.width : W)>;
  return detail::add_pool2d<result>(*x.builder, x.id, attr, Size, Window, false, false, line);
}

#ifdef LAMINA_NAMES_OPTIONS
// clang-format off
template <any_value...>
constexpr no_match<pool2d_attr>
pool2d(...) = delete;  // call pool2d<2>(image); options: type, exclusive, name
// clang-format on
#endif

/// Returns one number per channel, [C, 1, 1]: the largest element or the average of the whole
/// image. Fluid: layers.pool2d(global_pooling=True).
template <class T, class R, int C, int H, int W>
constexpr auto global_pool2d(variable<T, R, C, H, W> x, const options<pool2d_attr, T>& attr = {},
                             int line = __builtin_LINE()) {
  constexpr bool real = detail::is_real<T> && has_rows<R>;
  static_assert(check<real, gets_type<variable<T, R, C, H, W>>>,
                "lamina: global_pool2d: the images are floating point, one per row");
  using result = variable<T, R, C, 1, 1>;
  return detail::add_pool2d<result>(*x.builder, x.id, attr, {H, W}, window{}, true, false, line);
}

/// Pools an image of any size to the size [OH, OW] = `Size`: `adaptive_pool2d<7>(x)`. Window y
/// contains the rows floor(y H / OH) to ceil((y + 1) H / OH) - 1. Fluid: layers.adaptive_pool2d.
template <extent2 Size, class T, class R, int C, int H, int W>
constexpr auto adaptive_pool2d(variable<T, R, C, H, W> x, const options<pool2d_attr, T>& attr = {},
                               int line = __builtin_LINE()) {
  constexpr bool real = detail::is_real<T> && has_rows<R>;
  static_assert(check<real, gets_type<variable<T, R, C, H, W>>>,
                "lamina: adaptive_pool2d: the images are floating point, one per row");
  constexpr bool sound = Size.least(1);
  static_assert(check<sound, gets<Size.height, Size.width>>,
                "lamina: adaptive_pool2d: the size of the result is positive");
  using result = variable<T, R, C, (sound ? Size.height : H), (sound ? Size.width : W)>;
  return detail::add_pool2d<result>(*x.builder, x.id, attr, Size, window{}, false, true, line);
}

}}}  // namespace lamina::layer
