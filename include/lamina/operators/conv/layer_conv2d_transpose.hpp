// SPDX-License-Identifier: Apache-2.0
// lamina/operators/conv/layer_conv2d_transpose.hpp - the transposed convolution, which enlarges
// images.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/conv/layer_conv2d.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

namespace detail {
constexpr int transposed_along(int image, int size, int stride, int padding, int dilation) {
  return (image - 1) * stride - 2 * padding + dilation * (size - 1) + 1;
}
}  // namespace detail

/// Returns act(y + b), where y is the transposed convolution of an image [C, H, W]: each element of
/// the image multiplies the filters of its channel, and the products are added to y at the
/// element's position. This is the computation by which a conv2d passes gradients back to its
/// image. Example: `conv2d_transpose<8, 2, lamina::window{.stride = 2}>(x)` doubles height and
/// width. The result is [Filters, OH, OW] with OH = (H - 1) stride - 2 padding + dilation (size -
/// 1) + 1. If `Output` is not 0, it replaces OH and OW; it must be from OH to OH + stride - 1. The
/// layer has filters [C, Filters / groups, height, width], initialised by Xavier, and a bias b
/// [Filters], initialised with zeros. Fluid: layers.conv2d_transpose.
template <int Filters, extent2 Size, window Window = window{}, extent2 Output = 0, class T, class R,
          int C, int H, int W>
constexpr auto conv2d_transpose(variable<T, R, C, H, W> x, const options<conv2d_attr, T>& attr = {},
                                int line = __builtin_LINE()) {
  constexpr bool real = detail::is_real<T> && has_rows<R>;
  static_assert(check<real, gets_type<variable<T, R, C, H, W>>>,
                "lamina: conv2d_transpose: the images are floating point, one per row");
  constexpr bool sound = Filters > 0 && Size.least(1) && Window.stride.least(1) &&
                         Window.padding.least(0) && Window.dilation.least(1) && !Window.ceil_mode;
  static_assert(check<sound, gets<Filters, Size.height, Size.width>>,
                "lamina: conv2d_transpose: filters, their size, stride and dilation are positive, "
                "padding is not negative, ceil_mode is for pooling");
  constexpr int parts = Window.groups > 0 ? Window.groups : 1;
  constexpr bool divides = Window.groups > 0 && C % parts == 0 && Filters % parts == 0;
  static_assert(check<divides, expects<Window.groups>, gets<C, Filters>>,
                "lamina: conv2d_transpose: the number of groups divides the channels and the "
                "filters");
  constexpr int least_h = detail::transposed_along(H, Size.height, Window.stride.height,
                                                   Window.padding.height, Window.dilation.height);
  constexpr int least_w = detail::transposed_along(W, Size.width, Window.stride.width,
                                                   Window.padding.width, Window.dilation.width);
  constexpr bool given = !(Output == extent2(0));
  constexpr extent2 out = given ? Output : extent2(least_h, least_w);
  constexpr bool fits =
      !sound || (least_h > 0 && least_w > 0 && out.height >= least_h &&
                 out.height < least_h + Window.stride.height && out.width >= least_w &&
                 out.width < least_w + Window.stride.width);
  static_assert(check<fits, expects<least_h, least_w>, gets<out.height, out.width>>,
                "lamina: conv2d_transpose: the result has a size, and less than a stride more");
  constexpr bool good = real && sound && divides && fits;
  using result =
      variable<T, R, (good ? Filters : C), (good ? out.height : H), (good ? out.width : W)>;
  program_builder& b = *x.builder;
  layer_helper layer(b, "conv2d_transpose", attr.name);
  const int filter =
      layer.parameter(attr.param, ".w_", {C, Filters / parts, Size.height, Size.width}, dtype_of<T>,
                      init::xavier(), line);
  const auto y = layer.template output<result>();
  const attribute_value size =
      given ? detail::pair_attribute(b, Output) : b.integer_list(nullptr, 0);
  const attribute_value dilations = detail::pair_attribute(b, Window.dilation);
  const attribute_value strides = detail::pair_attribute(b, Window.stride);
  const attribute_value paddings = detail::pair_attribute(b, Window.padding);
  b.add_operator(schema_of<operators::conv2d_transpose>(), {x.id, filter, -1}, {y.id},
                 b.attribute_list(size, Window.groups, dilations, strides, paddings, b.text("NCHW"),
                                  b.text("EXPLICIT")));
  return layer.returns(result{&b, detail::finish_channels<T>(layer, y.id, Filters, attr, line)});
}
#ifdef LAMINA_NAMES_OPTIONS
template <any_value...>
constexpr no_match<conv2d_attr> conv2d_transpose(...) = delete;  // as conv2d<8, 3>(x)
#endif

}}}  // namespace lamina::layer
