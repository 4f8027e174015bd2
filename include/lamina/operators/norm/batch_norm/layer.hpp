// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/batch_norm/layer.hpp - normalises each channel over the batch.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/activation.hpp>
#include <lamina/layers/one_operator.hpp>
#include <lamina/operators/norm/batch_norm/definition.hpp>
#include <lamina/operators/norm/layer_norm/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of batch_norm.
struct batch_norm_attr {
  activation act = activation::identity;
  bool is_test = false;  // for programs that are recorded only for testing
  float momentum = 0.9f;
  float epsilon = 1e-5f;
  param_attr param{};       // attributes of the factor; initialised with 1
  param_attr bias_param{};  // attributes of the offset; initialised with 0
  std::string_view moving_mean_name{};
  std::string_view moving_variance_name{};
  bool use_global_stats = false;  // use the moving statistics in training too
  std::string_view name{};
};

/// act((x - mean) / sqrt(variance + epsilon) * scale + bias) for each channel, dimension 1. In
/// training, mean and biased variance are computed over the mini-batch, and they update the moving
/// statistics: moving = momentum * moving + (1 - momentum) * batch. With several threads or
/// processes, each uses the statistics of its part of the mini-batch, unless
/// train_options::sync_batch_norm is set. Evaluators use the moving statistics. In training, a
/// mini-batch with a single element per channel passes unchanged, without scale and bias.
/// Parameters: scale and bias [C], and the moving mean (initially 0) and variance (initially 1)
/// [C]. No optimizer changes the moving statistics, but they are saved and shared like other
/// parameters. Fluid: layers.batch_norm.
template <class T, class R, int C, int... D>
constexpr auto batch_norm(variable<T, R, C, D...> x, const options<batch_norm_attr, T>& attr = {},
                          int line = __builtin_LINE()) {
  using in = variable<T, R, C, D...>;
  constexpr bool fits = detail::is_real<T> && has_rows<R>;
  static_assert(check<fits, gets_type<in>>,
                "lamina: batch_norm: the input is floating point and has rows and channels");
  program_builder& b = *x.builder;
  b.require_option(attr.momentum >= 0 && attr.momentum <= 1, line,
                   "batch_norm: 0 <= momentum <= 1");
  b.require_option(attr.epsilon >= 0, line, "batch_norm: epsilon >= 0");
  layer_helper layer(b, "batch_norm", attr.name);
  const int scale = layer.parameter(attr.param, ".w_", {C}, dtype_of<T>, init::constant(1), line);
  const int bias =
      layer.parameter(attr.bias_param, ".b_", {C}, dtype_of<T>, init::constant(0), line);
  const int mean = layer.parameter({.name = attr.moving_mean_name, .trainable = false}, ".w_", {C},
                                   dtype_of<T>, init::constant(0), line);
  const int variance = layer.parameter({.name = attr.moving_variance_name, .trainable = false},
                                       ".w_", {C}, dtype_of<T>, init::constant(1), line);
  const int y = layer.output_like(x.id);
  using statistic = variable<T, once, C>;
  const int saved_mean = detail::without_gradient(layer, layer.template output<statistic>().id);
  const int saved_variance = detail::without_gradient(layer, layer.template output<statistic>().id);
  b.add_operator(schema_of<operators::batch_norm>(), {x.id, scale, bias, mean, variance},
                 {y, mean, variance, saved_mean, saved_variance},
                 b.attribute_list(attr.is_test, attr.momentum, attr.epsilon, b.text("NCHW"),
                                  attr.use_global_stats));
  return layer.returns(in{&b, apply_activation(layer, attr.act, y)});
}

}}}  // namespace lamina::layer
