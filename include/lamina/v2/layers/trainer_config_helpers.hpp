// SPDX-License-Identifier: Apache-2.0
// lamina/v2/layers/trainer_config_helpers.hpp - layers under the names that configurations for
// `paddle train` use.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/program/param_attr.hpp>
#include <lamina/v2/layers/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace v2::trainer_config_helpers {

/// Makes the input `Name`. `Type`, a type of data_type, contains the size and says whether the
/// input has sequences. v1: data_layer(name, size).
template <fixed_string Name, class Type>
constexpr auto data_layer(const block& main, int line = __builtin_LINE()) {
  return layer::data<Name, Type>(main, line);
}
/// Looks up rows [Size] of an embedding with `Dictionary` rows. v1: embedding_layer(input, size),
/// where the data layer has the size of the dictionary.
template <int Dictionary, int Size, class X>
constexpr auto embedding_layer(
    const X& input, const lamina::layer::options<lamina::layer::embedding_attr, X>& attr = {},
    int line = __builtin_LINE()) {
  return lamina::layer::embedding<Dictionary, Size>(input, attr, line);
}
/// Options of fc_layer; the default activation is that of v1.
struct fc_layer_attr {
  lamina::activation act = lamina::activation::tanh;
  lamina::param_attr param_attr{};  // options of the weight
  lamina::param_attr bias_attr{};   // options of the bias
  std::string_view name{};
};
/// act(input W + b) with `Size` results. v1: fc_layer(input, size, act).
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
