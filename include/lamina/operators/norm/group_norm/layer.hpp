// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/group_norm/layer.hpp - normalises the channels of each image separately:
// group_norm, instance_norm, lrn.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/activation.hpp>
#include <lamina/layers/one_operator.hpp>
#include <lamina/operators/norm/group_norm/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

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
