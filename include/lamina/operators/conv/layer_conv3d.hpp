// SPDX-License-Identifier: Apache-2.0
// lamina/operators/conv/layer_conv3d.hpp - conv3d, the convolution of volumes.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/conv/layer_conv2d.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The extents of a volume: depth, height and width. `3` converts to {3, 3, 3}.
struct extent3 {
  int depth, height, width;

  constexpr extent3(int all) : depth(all), height(all), width(all) {}
  constexpr extent3(int d, int h, int w) : depth(d), height(h), width(w) {}
  constexpr bool operator==(const extent3&) const = default;
  /// Whether depth, height and width are at least n.
  constexpr bool least(int n) const { return depth >= n && height >= n && width >= n; }
};

/// The stride, padding and dilation of a convolution or a pooling over volumes: as `window` for
/// images, with a depth.
struct window3 {
  extent3 stride = 1;
  extent3 padding = 0;
  extent3 dilation = 1;
  int groups = 1;
  bool ceil_mode = false;  // pooling only: a last window may exceed the padding

  constexpr bool operator==(const window3&) const = default;
};

namespace layer {

namespace detail {
constexpr attribute_value triple_attribute(program_builder& b, extent3 e) {
  const int all[] = {e.depth, e.height, e.width};
  return b.integer_list(all, 3);
}

/// Returns the number of windows that fit along each dimension of a volume.
template <int D, int H, int W>
constexpr extent3 windows_in(extent3 size, const window3& w) {
  const extent2 plane = windows_in<H, W>({size.height, size.width},
                                         {.stride = {w.stride.height, w.stride.width},
                                          .padding = {w.padding.height, w.padding.width},
                                          .dilation = {w.dilation.height, w.dilation.width},
                                          .ceil_mode = w.ceil_mode});
  return {
      windows_along(D, size.depth, w.stride.depth, w.padding.depth, w.dilation.depth, w.ceil_mode),
      plane.height, plane.width};
}
}  // namespace detail

/// Returns the convolution of a volume [C, D, H, W], as conv2d of an image: `conv3d<8, 3,
/// lamina::window3{.padding = 1}>(x)`. The layer has filters [Filters, C / groups, depth, height,
/// width], initialised from N(0, 2 / (depth * height * width * C)), and a bias [Filters],
/// initialised with zeros. Fluid: layers.conv3d.
template <int Filters, extent3 Size, window3 Window = window3{}, class T, class R, int C, int D,
          int H, int W>
constexpr auto conv3d(variable<T, R, C, D, H, W> x, const options<conv2d_attr, T>& attr = {},
                      int line = __builtin_LINE()) {
  constexpr bool real = detail::is_real<T> && has_rows<R>;
  static_assert(check<real, gets_type<variable<T, R, C, D, H, W>>>,
                "lamina: conv3d: the volumes are floating point, one per row");
  constexpr bool sound = Filters > 0 && Size.least(1) && Window.stride.least(1) &&
                         Window.padding.least(0) && Window.dilation.least(1) && !Window.ceil_mode;
  static_assert(check<sound, gets<Filters, Size.depth, Size.height, Size.width>>,
                "lamina: conv3d: filters, their size, stride and dilation are positive, padding is "
                "not negative, ceil_mode is for pooling");
  constexpr int parts = Window.groups > 0 ? Window.groups : 1;
  constexpr bool divides = Window.groups > 0 && C % parts == 0 && Filters % parts == 0;
  static_assert(check<divides, expects<Window.groups>, gets<C, Filters>>,
                "lamina: conv3d: the number of groups divides the channels and the filters");
  constexpr extent3 out = detail::windows_in<D, H, W>(Size, Window);
  constexpr bool fits = !sound || out.least(1);
  static_assert(check<fits, expects<Size.depth, Size.height, Size.width>, gets<D, H, W>>,
                "lamina: conv3d: a filter fits into the padded volume");
  constexpr bool good = real && sound && divides && fits;
  using result = variable<T, R, (good ? Filters : C), (good ? out.depth : D),
                          (good ? out.height : H), (good ? out.width : W)>;
  program_builder& b = *x.builder;
  layer_helper layer(b, "conv3d", attr.name);
  const int filter = layer.parameter(
      attr.param, ".w_", {Filters, C / parts, Size.depth, Size.height, Size.width}, dtype_of<T>,
      init::msra(false, static_cast<float>(Size.depth * Size.height * Size.width * C)), line);
  const auto y = layer.template output<result>();
  const attribute_value strides = detail::triple_attribute(b, Window.stride);
  const attribute_value paddings = detail::triple_attribute(b, Window.padding);
  const attribute_value dilations = detail::triple_attribute(b, Window.dilation);
  b.add_operator(schema_of<operators::conv3d>(), {x.id, filter, -1, -1}, {y.id},
                 b.attribute_list(strides, paddings, dilations, Window.groups, b.text("NCDHW"),
                                  b.text("EXPLICIT")));
  return layer.returns(result{&b, detail::finish_channels<T>(layer, y.id, Filters, attr, line)});
}

}  // namespace layer
}}  // namespace lamina
