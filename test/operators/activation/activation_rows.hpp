// SPDX-License-Identifier: Apache-2.0
// test/operators/activation/activation_rows.hpp - one row per activation.
#pragma once

#include <laws/operator_row.hpp>

#include <lamina/operators/activation/prelu_maxout/layer.hpp>

namespace rows {

template <class To>
void activation(To& to) {
  unary(to, "relu", [](auto x) { return layer::relu(x); });
  unary(to, "tanh", [](auto x) { return layer::tanh(x); });
  unary(to, "sigmoid", [](auto x) { return layer::sigmoid(x); });
  unary(
      to, "logsigmoid", [](auto x) { return layer::logsigmoid(x); }, wide);
  unary(
      to, "softplus", [](auto x) { return layer::softplus(x); }, wide);
  unary(to, "softsign", [](auto x) { return layer::softsign(x); });
  unary(to, "tanh_shrink", [](auto x) { return layer::tanh_shrink(x); });
  unary(
      to, "mish", [](auto x) { return layer::mish(x); }, wide);
  // Of numbers below -2 the engine has fewer digits, as 1 + erf(x) cancels.
  unary(to, "gelu", [](auto x) { return layer::gelu(x); }, {.low = -2, .high = 2});
  unary(
      to, "gelu_approximate", [](auto x) { return layer::gelu(x, {.approximate = true}); }, wide);
  unary(
      to, "selu", [](auto x) { return layer::selu(x); }, wide);
  unary(to, "leaky_relu", [](auto x) { return layer::leaky_relu(x, {.alpha = 0.1f}); });
  unary(
      to, "elu", [](auto x) { return layer::elu(x, {.alpha = 0.7f}); }, wide);
  unary(
      to, "relu6", [](auto x) { return layer::relu6(x, {.threshold = 6}); }, wide);
  unary(
      to, "brelu", [](auto x) { return layer::brelu(x, {.t_min = -1, .t_max = 2}); }, wide);
  unary(
      to, "soft_relu", [](auto x) { return layer::soft_relu(x, {.threshold = 3}); }, wide);
  unary(to, "stanh", [](auto x) { return layer::stanh(x); });
  unary(
      to, "hard_sigmoid", [](auto x) { return layer::hard_sigmoid(x); }, wide);
  unary(
      to, "swish", [](auto x) { return layer::swish(x, {.beta = 1}); }, wide);
  unary(
      to, "hard_swish", [](auto x) { return layer::hard_swish(x); }, wide);
  unary(
      to, "pow", [](auto x) { return layer::pow(x, {.factor = 2.5f}); }, positive);
  unary(to, "hard_shrink", [](auto x) { return layer::hard_shrink(x); });
  unary(to, "softshrink", [](auto x) { return layer::softshrink(x); });
  unary(to, "thresholded_relu",
        [](auto x) { return layer::thresholded_relu(x, {.threshold = 0.3f}); });
  unary(to, "prelu", [](auto x) { return layer::prelu(x); });
  unary(to, "prelu_element",
        [](auto x) { return layer::prelu(x, {.mode = layer::prelu_mode::element}); });
  of_rows(to, "softmax", [](auto x) { return layer::softmax(x); });
  of_two_images(to, "maxout", [](auto x) { return layer::maxout<2>(x); });
  of_images(to, "prelu_channel",
            [](auto x) { return layer::prelu(x, {.mode = layer::prelu_mode::channel}); },
            {.low = -1, .high = 1});
}

}  // namespace rows
