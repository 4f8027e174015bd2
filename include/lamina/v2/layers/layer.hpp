// SPDX-License-Identifier: Apache-2.0
// lamina/v2/layers/layer.hpp - layers under their names in PaddlePaddle v2 and in its design
// document.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/core/messages/check.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/program/param_attr.hpp>
#include <lamina/v2/layers/activation.hpp>
#include <lamina/v2/layers/data_type.hpp>
#include <lamina/v2/layers/evaluator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace v2 {

/// Contains all layers of lamina::layer, and the layers below.
namespace layer {

using namespace lamina::layer;  // NOLINT: the facade has every layer

/// Makes the input `Name` with a type of data_type: `data<"x", data_type::dense_vector<13>>(main)`.
/// The input has a row per sample, or per element of sequences. v2: layer.data(name, type).
template <fixed_string Name, class Type>
constexpr auto data(const block& main, int line = __builtin_LINE()) {
  constexpr bool known = requires { Type::levels; };
  static_assert(check<known, gets_type<Type>>,
                "lamina: v2: layer::data: expected a type of data_type, such as dense_vector<13>");
  if constexpr (!known)
    return lamina::layer::data<Name, float>(main, line);
  else if constexpr (Type::levels == 0)
    return lamina::layer::data<Name, typename Type::element, Type::width>(main, line);
  else if constexpr (Type::levels == 1)
    return lamina::layer::sequence<Name, typename Type::element, Type::width>(main, line);
  else
    return lamina::layer::nested_sequence<Name, typename Type::element, Type::width>(main, line);
}

/// The cosine of the angle between two rows. The design document of PaddlePaddle: layer.cosine.
template <class X, class Y>
constexpr auto cosine(const X& a, const Y& b, const options<cos_sim_attr, X>& attr = {},
                      int line = __builtin_LINE()) {
  return lamina::layer::cos_sim(a, b, attr, line);
}

/// Options of the costs below.
struct cost_attr {
  std::string_view name{};
};

/// The mean of (x - label)^2 over all elements. The design document of Fluid: layer.mse.
template <class L, class X>
constexpr auto mse(const L& label, const X& x, const options<cost_attr, X>& attr = {},
                   int line = __builtin_LINE()) {
  return lamina::layer::mean(lamina::layer::square_error_cost(x, label, {}, line),
                             {.name = attr.name});
}
/// The mean over the rows of the sum of (x - label)^2 in each row. v2: layer.square_error_cost.
template <class X, class L>
constexpr auto square_error_cost(const X& input, const L& label,
                                 const options<cost_attr, X>& attr = {},
                                 int line = __builtin_LINE()) {
  return lamina::layer::mean(
      lamina::layer::reduce_sum<1>(lamina::layer::square_error_cost(input, label, {}, line)),
      {.name = attr.name});
}
/// The mean over the rows of -log input[label], where each row of `input` has probabilities. v2:
/// layer.cross_entropy_cost.
template <class X, class L>
constexpr auto cross_entropy_cost(const X& input, const L& label,
                                  const options<cost_attr, X>& attr = {},
                                  int line = __builtin_LINE()) {
  return lamina::layer::mean(lamina::layer::cross_entropy(input, label, {}, line),
                             {.name = attr.name});
}
/// The cost of cross_entropy_cost. Also adds the metric "classification_error_evaluator", the
/// fraction of rows whose largest probability is not that of the label. v2:
/// layer.classification_cost.
template <class X, class L>
constexpr auto classification_cost(const X& input, const L& label,
                                   const options<cost_attr, X>& attr = {},
                                   int line = __builtin_LINE()) {
  evaluator::classification_error(input, label, {}, line);
  return cross_entropy_cost(input, label, attr, line);
}
/// The position of the largest element of each row. v2: layer.max_id.
template <class X>
constexpr auto max_id(const X& input, const options<argmax_attr, X>& attr = {}) {
  return lamina::layer::argmax<1>(input, attr);
}

}  // namespace layer

/// Networks that are composed of layers. v2: paddle.networks.
namespace networks {

/// Options of sequence_conv_pool; the default activation is that of v2.
struct sequence_conv_pool_attr {
  lamina::activation act = lamina::activation::tanh;
  param_attr param{};       // options of the filter
  param_attr bias_param{};  // options of the bias
  std::string_view name{};
};

/// The largest result of each of HiddenSize filters over ContextLen consecutive elements of a
/// sequence, one row per sequence. v2: networks.sequence_conv_pool(input, context_len,
/// hidden_size).
template <int ContextLen, int HiddenSize, class X>
constexpr auto sequence_conv_pool(
    const X& input, const lamina::layer::options<sequence_conv_pool_attr, X>& attr = {},
    int line = __builtin_LINE()) {
  return lamina::layer::sequence_conv_pool<HiddenSize, ContextLen>(
      input,
      {.act = attr.act, .param = attr.param, .bias_param = attr.bias_param, .name = attr.name},
      line);
}

}  // namespace networks
}}}  // namespace lamina::v2
