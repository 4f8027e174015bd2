// SPDX-License-Identifier: Apache-2.0
// lamina/operators/conv/layer_conv2d.hpp - conv2d, the convolution of images.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/activation.hpp>
#include <lamina/layers/one_operator.hpp>
#include <lamina/layers/window.hpp>
#include <lamina/operators/conv/definition.hpp>
#include <lamina/operators/elementwise/binary/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of conv2d and conv2d_transpose.
struct conv2d_attr {
  activation act = activation::identity;
  param_attr param{};       // attributes of the filters
  bool bias = true;         // false: no bias
  param_attr bias_param{};  // attributes of the bias
  std::string_view name{};
};

namespace detail {

/// Returns act(x + b), where b has one number per channel (dimension 1).
template <class T>
constexpr int finish_channels(layer_helper& layer, int x, int channels, const conv2d_attr& attr,
                              int line) {
  program_builder& b = layer.builder();
  if (attr.bias) {
    const int bias =
        layer.parameter(attr.bias_param, ".b_", {channels}, dtype_of<T>, init::constant(0), line);
    const int sum = layer.output_like(x);
    b.add_operator(schema_of<operators::elementwise_add>(), {x, bias}, {sum}, b.attribute_list(1));
    x = sum;
  }
  return apply_activation(layer, attr.act, x);
}

}  // namespace detail

/// Returns act(x * F + b), where * is the convolution: `Filters` filters F of extent `Size` slide
/// over an image x [C, H, W]. Examples: `conv2d<20, 5>(image, {.act = lamina::activation::relu})`,
/// `conv2d<64, 3, lamina::window{.stride = 2, .padding = 1}>(x)`. The result is [Filters, OH, OW]
/// with OH = (H + 2 padding - (dilation (size - 1) + 1)) / stride + 1. With window::groups, group g
/// of the filters reads only group g of the channels. The layer has filters [Filters, C / groups,
/// height, width], initialised from N(0, 2 / (height * width * C)), and a bias b [Filters],
/// initialised with zeros. Fluid: layers.conv2d, which records depthwise_conv2d if every channel is
/// a group.
template <int Filters, extent2 Size, window Window = window{}, class T, class R, int C, int H,
          int W>
constexpr auto conv2d(variable<T, R, C, H, W> x, const options<conv2d_attr, T>& attr = {},
                      int line = __builtin_LINE()) {
  constexpr bool real = detail::is_real<T> && has_rows<R>;
  static_assert(check<real, gets_type<variable<T, R, C, H, W>>>,
                "lamina: conv2d: the images are floating point, one per row");
  constexpr bool sound = Filters > 0 && Size.least(1) && Window.stride.least(1) &&
                         Window.padding.least(0) && Window.dilation.least(1) && !Window.ceil_mode;
  static_assert(check<sound, gets<Filters, Size.height, Size.width>>,
                "lamina: conv2d: filters, their size, stride and dilation are positive, padding is "
                "not negative, ceil_mode is for pooling");
  constexpr int parts = Window.groups > 0 ? Window.groups : 1;
  constexpr bool divides = Window.groups > 0 && C % parts == 0 && Filters % parts == 0;
  static_assert(check<divides, expects<Window.groups>, gets<C, Filters>>,
                "lamina: conv2d: the number of groups divides the channels and the filters");
  constexpr extent2 out = detail::windows_in<H, W>(Size, Window);
  constexpr bool fits = !sound || out.least(1);
  static_assert(check<fits, expects<Size.height, Size.width>, gets<H, W>>,
                "lamina: conv2d: a filter fits into the padded image");
  // If an argument is invalid, the result has the type of the input, so that the mistake causes no
  // further errors.
  constexpr bool good = real && sound && divides && fits;
  using result =
      variable<T, R, (good ? Filters : C), (good ? out.height : H), (good ? out.width : W)>;
  program_builder& b = *x.builder;
  // If the images have a single channel, the layer records conv2d: with one group, a convolution is
  // not called depthwise.
  constexpr bool depthwise = parts == C && parts > 1;
  layer_helper layer(b, depthwise ? "depthwise_conv2d" : "conv2d", attr.name);
  const int filter =
      layer.parameter(attr.param, ".w_", {Filters, C / parts, Size.height, Size.width}, dtype_of<T>,
                      init::msra(false, static_cast<float>(Size.height * Size.width * C)), line);
  const auto y = layer.template output<result>();
  const operator_schema& schema =
      depthwise ? schema_of<operators::depthwise_conv2d>() : schema_of<operators::conv2d>();
  const attribute_value strides = detail::pair_attribute(b, Window.stride);
  const attribute_value paddings = detail::pair_attribute(b, Window.padding);
  const attribute_value dilations = detail::pair_attribute(b, Window.dilation);
  b.add_operator(schema, {x.id, filter, -1, -1}, {y.id},
                 b.attribute_list(strides, paddings, dilations, Window.groups, b.text("NCHW"),
                                  b.text("EXPLICIT")));
  return layer.returns(result{&b, detail::finish_channels<T>(layer, y.id, Filters, attr, line)});
}

#ifdef LAMINA_NAMES_OPTIONS
// clang-format off
template <any_value...>
constexpr no_match<conv2d_attr>
conv2d(...) = delete;  // call conv2d<8, 3>(image); options: act, param, bias, bias_param, name
// clang-format on
#endif

}}}  // namespace lamina::layer
