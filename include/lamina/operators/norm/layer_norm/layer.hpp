// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/layer_norm/layer.hpp - normalisation of the elements of each row
// (layer_norm) or of the channels of images (group_norm, instance_norm).
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/activation.hpp>
#include <lamina/layers/one_operator.hpp>
#include <lamina/layers/shape.hpp>
#include <lamina/operators/norm/layer_norm/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of layer_norm.
struct layer_norm_attr {
  bool scale = true;  // false: no trained factor
  bool shift = true;  // false: no trained offset
  float epsilon = 1e-5f;
  param_attr param{};       // attributes of the factor; initialised with 1
  param_attr bias_param{};  // attributes of the offset; initialised with 0
  activation act = activation::identity;
  std::string_view name{};
};

namespace detail {

/// The dimensions before `begin`, or a single dimension if there are none.
constexpr extents before(const extents& x, int begin) {
  extents r{};
  for (int i = 0; i < begin && i < x.rank; ++i) r.push(x.at[i]);
  if (r.rank == 0) r.push(1);
  return r;
}

}  // namespace detail

/// (x - mean) / sqrt(variance + epsilon) * scale + bias, with mean and variance over the dimensions
/// of the whole shape from Begin on. Parameters: scale and bias, with as many elements as these
/// dimensions together. Source: Ba et al. 2016. Fluid: layer_norm.
template <int Begin = 1, class T, class R, int... D>
constexpr auto layer_norm(variable<T, R, D...> x, const options<layer_norm_attr, T>& attr = {},
                          int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  constexpr extents all = whole_shape<in>;
  constexpr bool fits =
      detail::is_real<T> && Begin < all.rank && Begin >= static_cast<int>(all.has_rows());
  static_assert(check<fits, gets<Begin>, gets_type<in>>,
                "lamina: layer_norm: floating point, normalised from an inner dimension on");
  constexpr int width = fits ? all.product(Begin, all.rank) : 1;
  program_builder& b = *x.builder;
  b.require_option(attr.epsilon >= 0, line, "layer_norm: epsilon >= 0");
  layer_helper layer(b, "layer_norm", attr.name);
  const int scale =
      attr.scale ? layer.parameter(attr.param, ".w_", {width}, dtype_of<T>, init::constant(1), line)
                 : -1;
  const int bias = attr.shift ? layer.parameter(attr.bias_param, ".b_", {width}, dtype_of<T>,
                                                init::constant(0), line)
                              : -1;
  constexpr extents shape = detail::before(all, Begin);
  using moment = handle_of<T, R, shape>;
  const int mean = detail::without_gradient(layer, layer.template output<moment>().id);
  const int variance = detail::without_gradient(layer, layer.template output<moment>().id);
  const int y = layer.output_like(x.id);
  b.add_operator(schema_of<operators::layer_norm>(), {x.id, scale, bias}, {y, mean, variance},
                 b.attribute_list(attr.epsilon, Begin));
  return layer.returns(in{&b, apply_activation(layer, attr.act, y)});
}

/// Options of group_norm and instance_norm.
struct group_norm_attr {
  bool scale = true;  // false: no trained factor
  bool shift = true;  // false: no trained offset
  float epsilon = 1e-5f;
  param_attr param{};       // attributes of the factor; initialised with 1
  param_attr bias_param{};  // attributes of the offset; initialised with 0
  activation act = activation::identity;
  std::string_view name{};
};

namespace detail {

struct norm_parameters {
  int scale, bias;
};
/// Records the scale and the bias, each with one number per channel. A parameter that is switched
/// off is -1.
template <class T>
constexpr norm_parameters channel_parameters(layer_helper& layer, int channels,
                                             const group_norm_attr& attr, int line) {
  norm_parameters p{-1, -1};
  if (attr.scale)
    p.scale = layer.parameter(attr.param, ".w_", {channels}, dtype_of<T>, init::constant(1), line);
  if (attr.shift)
    p.bias =
        layer.parameter(attr.bias_param, ".b_", {channels}, dtype_of<T>, init::constant(0), line);
  return p;
}

}  // namespace detail

/// (x - mean) / sqrt(variance + epsilon) * scale + bias, with the mean and variance of each group
/// of C / Groups channels of an image: `group_norm<8>(x)`. A group of a single number equals its
/// mean, so its result is the bias. Parameters: scale and bias [C]. Source: Wu and He 2018. Fluid:
/// layers.group_norm.
template <int Groups, class T, class R, int C, int... D>
constexpr auto group_norm(variable<T, R, C, D...> x, const options<group_norm_attr, T>& attr = {},
                          int line = __builtin_LINE()) {
  using in = variable<T, R, C, D...>;
  constexpr bool fits = detail::is_real<T> && has_rows<R>;
  static_assert(check<fits, gets_type<in>>,
                "lamina: group_norm: the input is floating point and has rows and channels");
  constexpr int groups = Groups > 0 ? Groups : 1;
  constexpr bool divides = Groups > 0 && C % groups == 0;
  static_assert(check<divides, expects<Groups>, gets<C>>,
                "lamina: group_norm: the number of groups divides the number of channels");
  program_builder& b = *x.builder;
  b.require_option(attr.epsilon >= 0, line, "group_norm: epsilon >= 0");
  layer_helper layer(b, "group_norm", attr.name);
  const auto p = detail::channel_parameters<T>(layer, C, attr, line);
  using moment = variable<T, R, groups>;
  const int mean = detail::without_gradient(layer, layer.template output<moment>().id);
  const int variance = detail::without_gradient(layer, layer.template output<moment>().id);
  const int y = layer.output_like(x.id);
  b.add_operator(schema_of<operators::group_norm>(), {x.id, p.scale, p.bias}, {y, mean, variance},
                 b.attribute_list(attr.epsilon, Groups, b.text("NCHW")));
  return layer.returns(in{&b, apply_activation(layer, attr.act, y)});
}

/// group_norm with one group per channel. Source: Ulyanov et al. 2016. Fluid: layers.instance_norm.
template <class T, class R, int C, int... D>
constexpr auto instance_norm(variable<T, R, C, D...> x,
                             const options<group_norm_attr, T>& attr = {},
                             int line = __builtin_LINE()) {
  using in = variable<T, R, C, D...>;
  constexpr bool fits = detail::is_real<T> && has_rows<R> && sizeof...(D) > 0;
  static_assert(check<fits, gets_type<in>>,
                "lamina: instance_norm: the input is floating point and has rows, channels and "
                "elements");
  program_builder& b = *x.builder;
  b.require_option(attr.epsilon >= 0, line, "instance_norm: epsilon >= 0");
  layer_helper layer(b, "instance_norm", attr.name);
  const auto p = detail::channel_parameters<T>(layer, C, attr, line);
  using moment = variable<T, R, C>;
  const int mean = detail::without_gradient(layer, layer.template output<moment>().id);
  const int variance = detail::without_gradient(layer, layer.template output<moment>().id);
  const int y = layer.output_like(x.id);
  b.add_operator(schema_of<operators::instance_norm>(), {x.id, p.scale, p.bias},
                 {y, mean, variance}, b.attribute_list(attr.epsilon));
  return layer.returns(in{&b, apply_activation(layer, attr.act, y)});
}

}}}  // namespace lamina::layer
