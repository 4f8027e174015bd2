// SPDX-License-Identifier: Apache-2.0
// lamina/layers/losses.hpp - costs under the names of PyTorch and Keras that are compositions of
// other layers.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/layers/log_softmax.hpp>
#include <lamina/layers/where.hpp>
#include <lamina/operators/activation/tunable/layer.hpp>
#include <lamina/operators/elementwise/compare/layer.hpp>
#include <lamina/operators/loss/cross_entropy/layer_softmax.hpp>
#include <lamina/operators/loss/pointwise/layer.hpp>
#include <lamina/operators/loss/row/layer.hpp>
#include <lamina/operators/norm/cos_sim/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/operators/reduce/squared_l2/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of mse_loss.
struct mse_loss_attr {
  std::string_view name{};
};
/// Options of triplet_margin_loss.
struct triplet_margin_loss_attr {
  float margin = 1;
  float epsilon = 1e-6f;  // added to each difference, as in PyTorch
  bool swap = false;      // the negative may be nearer to the positive than to the anchor
  std::string_view name{};
};
/// Options of focal_loss.
struct focal_loss_attr {
  float gamma = 2;
  float alpha = 1;  // factor of the cost
  std::string_view name{};
};
/// Options of cosine_embedding_loss.
struct cosine_embedding_loss_attr {
  float margin = 0;
  std::string_view name{};
};

/// mean((x - y)^2) over all elements, of shape [1]. square_error_cost is the same without the mean.
/// PyTorch: mse_loss. Keras: mean_squared_error.
template <class X, class Y>
constexpr auto mse_loss(X x, Y y, const options<mse_loss_attr, X>& attr = {},
                        int line = __builtin_LINE()) {
  layer_helper layer(*x.builder, "mse_loss", attr.name);
  return layer.returns(mean(square_error_cost(x, y, {}, line)));
}

namespace detail {

/// |x - y + epsilon|_2 of each row, [-1, 1].
template <class X, class Y>
constexpr auto row_distance(X x, Y y, float epsilon, int line) {
  const auto difference = scale(elementwise_sub(x, y, {}, line), 1, {.bias = epsilon});
  return sqrt(reduce_sum<1>(square(difference), keep_dim));
}

}  // namespace detail

/// max(0, d(anchor, positive) - d(anchor, negative) + margin) of each row, [-1, 1], where d is the
/// Euclidean distance, and the three are [-1, N]. With `swap`, d(positive, negative) replaces
/// d(anchor, negative) where it is smaller. Source: Balntas et al. 2016. PyTorch:
/// triplet_margin_loss with reduction "none".
template <class T, class R, int N>
constexpr auto triplet_margin_loss(variable<T, R, N> anchor, variable<T, R, N> positive,
                                   variable<T, R, N> negative,
                                   const options<triplet_margin_loss_attr, T>& attr = {},
                                   int line = __builtin_LINE()) {
  layer_helper layer(*anchor.builder, "triplet_margin_loss", attr.name);
  const auto to_positive = detail::row_distance(anchor, positive, attr.epsilon, line);
  auto to_negative = detail::row_distance(anchor, negative, attr.epsilon, line);
  if (attr.swap)
    to_negative =
        elementwise_min(to_negative, detail::row_distance(positive, negative, attr.epsilon, line));
  return layer.returns(
      relu(scale(elementwise_sub(to_positive, to_negative), 1, {.bias = attr.margin})));
}

/// alpha (1 - p)^gamma (-log p) of each row, [-1, 1], where p is the probability that
/// softmax(logits) gives to the label, int64 [-1, 1]: well classified rows count less than in
/// cross_entropy, which is gamma = 0. Source: Lin et al. 2017. Keras: CategoricalFocalCrossentropy,
/// whose alpha is 0.25.
template <class T, class R, int N, class L, class S>
constexpr auto focal_loss(variable<T, R, N> logits, variable<L, S, 1> label,
                          const options<focal_loss_attr, T>& attr = {},
                          int line = __builtin_LINE()) {
  logits.builder->require_option(attr.gamma >= 0, line, "focal_loss: gamma >= 0");
  layer_helper layer(*logits.builder, "focal_loss", attr.name);
  const auto cost = softmax_with_cross_entropy(logits, label, {}, line);
  if (attr.gamma == 0) return layer.returns(scale(cost, attr.alpha));
  // Not 0, where the gradient of a power below 1 is infinite.
  const auto missed = clip(scale(exp(scale(cost, -1)), -1, {.bias = 1}), 1e-7, 1);
  return layer.returns(
      scale(elementwise_mul(pow(missed, {.factor = attr.gamma}), cost), attr.alpha));
}

/// 1 - cos(x, y) for rows whose label is 1, max(0, cos(x, y) - margin) for the others: [-1, 1]. The
/// labels are numbers of the type of x, [-1, 1]; PyTorch's -1 counts as any other than 1. PyTorch:
/// cosine_embedding_loss with reduction "none".
template <class T, class R, int N>
constexpr auto cosine_embedding_loss(variable<T, R, N> x, variable<T, R, N> y,
                                     variable<T, R, 1> label,
                                     const options<cosine_embedding_loss_attr, T>& attr = {},
                                     int line = __builtin_LINE()) {
  layer_helper layer(*x.builder, "cosine_embedding_loss", attr.name);
  const auto cosine = cos_sim(x, y, {}, line);
  const block here{x.builder, x.builder->current_block};
  const auto equal_pair = layer::equal(label, fill_constant<T, 1>(here, 1));
  return layer.returns(where(equal_pair, scale(cosine, -1, {.bias = 1}),
                             relu(scale(cosine, 1, {.bias = -attr.margin})), {}, line));
}

}}}  // namespace lamina::layer
