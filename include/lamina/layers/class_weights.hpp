// SPDX-License-Identifier: Apache-2.0
// lamina/layers/class_weights.hpp - weights of classes in a cost.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/elementwise/assign/layer.hpp>
#include <lamina/operators/elementwise/binary/layer.hpp>
#include <lamina/operators/elementwise/compare/layer.hpp>
#include <lamina/operators/embedding/gather/layer.hpp>
#include <lamina/operators/fill/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of class_weights.
struct class_weights_attr {
  int ignore_index = -100;  // rows with this label have weight 0; their cost is 0 too
  std::string_view name{};
};
/// Options of weighted_mean.
struct weighted_mean_attr {
  std::string_view name{};
};

/// The weight of the class of each row, shape [-1, 1]: `class_weights(label, {1.f, 1.f, 5.f})` has
/// one weight per class. Rows with the label `ignore_index` have the weight 0. Any other label
/// without a weight is an error at run time. `mean(cost * class_weights(...))` divides by the
/// number of rows, like Keras' class_weight. `weighted_mean(cost, class_weights(...))` divides by
/// the sum of the weights, like PyTorch's `weight`.
template <class R, std::size_t N>
constexpr auto class_weights(variable<std::int64_t, R, 1> label, const float (&weights)[N],
                             const class_weights_attr& attr = {}, int line = __builtin_LINE()) {
  const block here{label.builder, label.builder->current_block};
  const auto table = assign_value<static_cast<int>(N), 1>(here, weights, {}, line);
  const auto ignored = fill_constant<std::int64_t>(here, attr.ignore_index);
  const auto counts = not_equal(label, ignored);
  const auto known = elementwise_mul(label, cast<std::int64_t>(counts));
  return elementwise_mul(gather(table, known, {}, line), cast<float>(counts), {.name = attr.name});
}
/// Does the same for a constant array of weights.
template <class R, std::size_t N>
constexpr auto class_weights(variable<std::int64_t, R, 1> label,
                             const std::array<float, N>& weights,
                             const class_weights_attr& attr = {}, int line = __builtin_LINE()) {
  float plain[N] = {};
  for (std::size_t i = 0; i < N; ++i) plain[i] = weights[i];
  return class_weights(label, plain, attr, line);
}

/// sum(x * weight) / sum(weight), a scalar. If all weights of a mini-batch are 0, the result is 0 /
/// 0 = NaN, as in PyTorch.
template <class T, class R, int... D>
constexpr auto weighted_mean(variable<T, R, D...> x, variable<T, R, D...> weight,
                             const options<weighted_mean_attr, T>& attr = {},
                             int line = __builtin_LINE()) {
  require_one_program(x, weight, line);
  return elementwise_div(reduce_sum(elementwise_mul(x, weight)), reduce_sum(weight),
                         {.name = attr.name});
}

}}}  // namespace lamina::layer
