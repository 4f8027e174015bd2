// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/function_programs.hpp - programs of every pointwise function, alone and of
// pairs, for tests on the host and for a run on a device.
#pragma once

#include "engine/cuda/train_both.hpp"

namespace test {

/// Functions of one number, each where it is defined and smooth, or of what lies between its edges.
inline constexpr auto unary = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 7>(main);
  auto h = layer::fc<6>(x);
  auto small = layer::scale(layer::tanh(h), 0.9f);
  auto large = layer::scale(h, 3.0f);
  auto positive = layer::square(h) + layer::fill_constant<float>(main, 0.5f);
  auto bounded = layer::acos(small) + layer::asin(small) + layer::atan(h) + layer::cos(h) +
                 layer::sin(h) + layer::sigmoid(h) + layer::logsigmoid(h) + layer::softsign(h) +
                 layer::stanh(h) + layer::tanh_shrink(h) + layer::hard_sigmoid(h) +
                 layer::softplus(h) + layer::gelu(h);
  auto broken = layer::abs(h) + layer::brelu(large, {.t_min = -1, .t_max = 2}) +
                layer::clip(large, -0.7f, 1.1f) + layer::hard_shrink(large) +
                layer::softshrink(large) + layer::relu6(large) + layer::hard_swish(large) +
                layer::thresholded_relu(large) + layer::leaky_relu(h) + layer::elu(h) +
                layer::selu(h) + layer::swish(h) + layer::soft_relu(large);
  auto whole = layer::ceil(large) * h + layer::floor(large) * h + layer::round(large) * h +
               layer::sign(h) * h;
  auto roots = layer::reciprocal(positive) + layer::rsqrt(positive) + layer::sqrt(positive) +
               layer::log(positive) + layer::exp(small) + layer::pow(positive, {.factor = 1.5f});
  return layer::mean(layer::square(bounded + broken + whole + roots));
});

/// Functions of two numbers, and costs of one label a number.
inline constexpr auto pairs = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 7>(main);
  auto y = layer::data<"y", float, 6>(main);
  auto h = layer::fc<6>(x), g = layer::fc<6>(x);
  auto positive = layer::square(g) + layer::fill_constant<float>(main, 0.5f);
  auto label = layer::sigmoid(y), chance = layer::sigmoid(h);
  auto both = layer::elementwise_div(h, positive) + layer::elementwise_min(h, g) +
              layer::elementwise_max(h, g) + layer::elementwise_pow(positive, chance) +
              layer::minus(h, g) + layer::elementwise_mod(positive, label) * h +
              layer::elementwise_floordiv(positive, label) * h;
  auto costs = layer::log_loss(chance, label) + layer::hinge_loss(h, label) +
               layer::huber_loss(h, y, 0.3f) + layer::modified_huber_loss(h, label) +
               layer::rank_loss(label, h, g) + layer::margin_rank_loss(label, h, g);
  return layer::mean(layer::square(layer::cast<float>(both))) + layer::mean(costs);
});

/// What has no gradient: comparisons, logic, what a reduction of them says, numbers of rows and
/// places.
inline constexpr auto decisions = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto y = layer::data<"y", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto a = layer::less_than(x, y), b = layer::greater_than(x, layer::scale(y, 0.5f));
  auto c =
      layer::logical_or(layer::logical_and(a, b), layer::logical_not(layer::logical_xor(a, b)));
  auto d = layer::logical_and(layer::less_equal(x, y), layer::not_equal(x, y));
  auto e = layer::logical_or(layer::greater_equal(x, y), layer::equal(x, y));
  auto all = layer::cast<float>(layer::reduce_all<-1>(c));
  auto any = layer::cast<float>(layer::reduce_any<-1>(d));
  return std::tuple{layer::cast<float>(c),
                    layer::cast<float>(d),
                    layer::cast<float>(e),
                    all,
                    any,
                    layer::argmax(x),
                    layer::argmin(y),
                    layer::one_hot<5>(label),
                    layer::clip_by_norm(x, 0.5f)};
});

}  // namespace test
