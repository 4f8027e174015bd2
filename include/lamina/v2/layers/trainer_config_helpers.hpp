// SPDX-License-Identifier: Apache-2.0
// lamina/v2/layers/trainer_config_helpers.hpp - layers by the names that PaddlePaddle's
// configurations for `paddle train` use.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/program/param_attr.hpp>
#include <lamina/v2/layers/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace v2::trainer_config_helpers {

/// v1: data_layer(name, size). The type contains the size, and tells whether there are sequences.
template <fixed_string Name, class Type>
constexpr auto data_layer(const block& main, int line = __builtin_LINE()) {
  return layer::data<Name, Type>(main, line);
}
/// v1: embedding_layer(input, size), in which the data layer has the size of the dictionary.
template <int Dictionary, int Size, class X>
constexpr auto embedding_layer(
    const X& input, const lamina::layer::options<lamina::layer::embedding_attr, X>& attr = {},
    int line = __builtin_LINE()) {
  return lamina::layer::embedding<Dictionary, Size>(input, attr, line);
}
/// Options of fc_layer, with v1's activation.
struct fc_layer_attr {
  lamina::activation act = lamina::activation::tanh;
  lamina::param_attr param_attr{};  // options of the weight
  lamina::param_attr bias_attr{};   // options of the bias
  std::string_view name{};
};
/// v1: fc_layer(input, size, act).
template <int Size, class X>
constexpr auto fc_layer(const X& input, const lamina::layer::options<fc_layer_attr, X>& attr = {},
                        int line = __builtin_LINE()) {
  return lamina::layer::fc<Size>(
      input,
      {.act = attr.act, .param = attr.param_attr, .bias_param = attr.bias_attr, .name = attr.name},
      line);
}
using networks::sequence_conv_pool;

// The activations of v1.
constexpr auto LinearActivation() { return lamina::activation::identity; }
constexpr auto ReluActivation() { return lamina::activation::relu; }
constexpr auto SigmoidActivation() { return lamina::activation::sigmoid; }
constexpr auto SoftmaxActivation() { return lamina::activation::softmax; }
constexpr auto TanhActivation() { return lamina::activation::tanh; }

}}}  // namespace lamina::v2::trainer_config_helpers
