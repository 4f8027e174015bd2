// SPDX-License-Identifier: Apache-2.0
// Second and third derivatives of cross-entropies are difference quotients of first derivatives.
#include "second_gradients.hpp"

#include <lamina/transform/loss_gradient_rules.hpp>

using lamina::block;
using namespace second_gradients;

namespace {

constexpr auto costs = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto share = layer::data<"share", float, 4>(main);
  auto y = layer::data<"y", float, 2, 3>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto labels = layer::data<"labels", std::int64_t, 2, 1>(main);
  auto marks = layer::cast<float>(layer::data<"marks", std::int64_t, 4>(main));
  auto sum = layer::fill_constant<float>(main, 0);
  const auto add = [&](auto target, auto from) {
    auto [grad] = layer::gradients(layer::square(target), from);
    sum = sum + size_of_gradient(grad);
    return grad;
  };
  auto binary = add(layer::sigmoid_cross_entropy_with_logits(x, share), x);
  add(layer::sigmoid_cross_entropy_with_logits(layer::square(x), marks, {.ignore_index = 1}), x);
  auto bend = add(layer::softmax_with_cross_entropy(x, label), x);
  add(layer::softmax_with_cross_entropy(layer::square(y), labels, {.ignore_index = 1}), y);
  add(layer::softmax_with_cross_entropy(x, share), x);
  auto quotient = add(layer::cross_entropy(x, label), x);
  add(layer::cross_entropy(layer::softmax(y), labels, {.ignore_index = 1}), y);
  add(layer::cross_entropy(x, share), x);
  // Third derivatives.
  add(binary, x);
  add(bend, x);
  add(0.1f * quotient, x);
  return 0.1f * sum;
});

}  // namespace

TEST_CASE("second derivatives of cross-entropies are difference quotients") {
  laws::gradient_options options = positive;
  options.constant = {"share"};
  options.integers = 3;
  laws::check_gradients(costs, {}, options);
  check_engine(costs);
}
