// SPDX-License-Identifier: Apache-2.0
// lamina/operators/pool/pool3d/layer.hpp - pool3d, global_pool3d and adaptive_pool3d: the largest
// or the average element of windows of volumes.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/conv/layer_conv3d.hpp>
#include <lamina/operators/pool/pool2d/layer.hpp>
#include <lamina/operators/pool/pool3d/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

namespace detail {

/// Records a pool3d. The sizes and flags have the meaning of Fluid's attributes.
template <class Out>
constexpr Out add_pool3d(program_builder& b, int x, const pool2d_attr& attr, extent3 size,
                         const window3& w, bool global, bool adaptive, int line) {
  if (attr.type != pooling_type::max && attr.type != pooling_type::average)
    b.report(fault_kind::pooling_type, line, attr.name, nullptr, 0, nullptr, 0);
  layer_helper layer(b, adaptive ? "adaptive_pool3d" : "pool3d", attr.name);
  const Out y = layer.template output<Out>();
  const attribute_value ksize = triple_attribute(b, size);
  const attribute_value strides = triple_attribute(b, w.stride);
  const attribute_value paddings = triple_attribute(b, w.padding);
  b.add_operator(
      schema_of<operators::pool3d>(), {x}, {y.id},
      b.attribute_list(b.text(attr.type == pooling_type::average ? "avg" : "max"), ksize, global,
                       strides, paddings, attr.exclusive, adaptive, w.ceil_mode, b.text("NCDHW")));
  return layer.returns(y);
}

}  // namespace detail

/// Returns the largest element or the average of each window of a volume [C, D, H, W], as pool2d
/// does for images: `pool3d<2, lamina::window3{.stride = 2}>(x)`. The result is [C, OD, OH, OW].
/// Fluid: layers.pool3d.
template <extent3 Size, window3 Window = window3{}, class T, class R, int C, int D, int H, int W>
constexpr auto pool3d(variable<T, R, C, D, H, W> x, const options<pool2d_attr, T>& attr = {},
                      int line = __builtin_LINE()) {
  constexpr bool real = detail::is_real<T> && has_rows<R>;
  static_assert(check<real, gets_type<variable<T, R, C, D, H, W>>>,
                "lamina: pool3d: the volumes are floating point, one per row");
  constexpr extent3 stride = Window.stride, padding = Window.padding;
  constexpr bool sound = Size.least(1) && stride.least(1) && padding.least(0) &&
                         padding.depth < Size.depth && padding.height < Size.height &&
                         padding.width < Size.width && Window.dilation == extent3(1) &&
                         Window.groups == 1;
  static_assert(check<sound, expects<Size.depth, Size.height, Size.width>,
                      gets<padding.depth, padding.height, padding.width>>,
                "lamina: pool3d: sizes and strides are positive, padding is below the size, "
                "dilation and groups are 1");
  constexpr extent3 out = detail::windows_in<D, H, W>(Size, Window);
  constexpr bool fits =
      !sound || (out.least(1) && (out.depth - 1) * stride.depth < D + padding.depth &&
                 (out.height - 1) * stride.height < H + padding.height &&
                 (out.width - 1) * stride.width < W + padding.width);
  static_assert(check<fits, expects<Size.depth, Size.height, Size.width>, gets<D, H, W>>,
                "lamina: pool3d: every window holds a part of the volume");
  constexpr bool good = real && sound && fits;
  using result =
      variable<T, R, C, (good ? out.depth : D), (good ? out.height : H), (good ? out.width : W)>;
  return detail::add_pool3d<result>(*x.builder, x.id, attr, Size, Window, false, false, line);
}

/// Returns one number per channel, [C, 1, 1, 1]: the largest element or the average of the whole
/// volume. Fluid: layers.pool3d(global_pooling=True).
template <class T, class R, int C, int D, int H, int W>
constexpr auto global_pool3d(variable<T, R, C, D, H, W> x, const options<pool2d_attr, T>& attr = {},
                             int line = __builtin_LINE()) {
  constexpr bool real = detail::is_real<T> && has_rows<R>;
  static_assert(check<real, gets_type<variable<T, R, C, D, H, W>>>,
                "lamina: pool3d: the volumes are floating point, one per row");
  using result = variable<T, R, C, 1, 1, 1>;
  return detail::add_pool3d<result>(*x.builder, x.id, attr, {D, H, W}, window3{}, true, false,
                                    line);
}

/// Pools a volume of any size to `Size`, with windows as in adaptive_pool2d. Fluid:
/// layers.adaptive_pool3d.
template <extent3 Size, class T, class R, int C, int D, int H, int W>
constexpr auto adaptive_pool3d(variable<T, R, C, D, H, W> x,
                               const options<pool2d_attr, T>& attr = {},
                               int line = __builtin_LINE()) {
  constexpr bool good = detail::is_real<T> && has_rows<R> && Size.least(1);
  static_assert(
      check<good, gets<Size.depth, Size.height, Size.width>, gets_type<variable<T, R, C, D, H, W>>>,
      "lamina: adaptive_pool3d: the volumes are floating point, one per row, and the size "
      "of the result is positive");
  using result =
      variable<T, R, C, (good ? Size.depth : D), (good ? Size.height : H), (good ? Size.width : W)>;
  return detail::add_pool3d<result>(*x.builder, x.id, attr, Size, window3{}, false, true, line);
}

}}}  // namespace lamina::layer
