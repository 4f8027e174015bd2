// SPDX-License-Identifier: Apache-2.0
// Second and third derivatives of batch_norm are difference quotients of first derivatives.
#include "second_gradients.hpp"

#include <lamina/transform/norm_gradient_rules.hpp>

using lamina::block;
using namespace second_gradients;

namespace {

constexpr auto batches = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto v = layer::data<"v", float, 3>(main);
  auto y = layer::data<"y", float, 2, 2, 2>(main);
  auto w = layer::data<"w", float, 2, 2, 2>(main);
  auto sum = layer::fill_constant<float>(main, 0);
  const auto add = [&](auto target, auto from) {
    auto [grad] = layer::gradients(target, from);
    sum = sum + size_of_gradient(grad);
    return grad;
  };
  auto grad = add(layer::batch_norm(x, {.epsilon = 0.3f}) * v, x);
  add(layer::square(layer::batch_norm(layer::square(y), {.epsilon = 0.1f})) * w, y);
  add(layer::square(layer::batch_norm(y, {.is_test = true})) * w, y);
  add(layer::batch_norm(layer::square(x), {.use_global_stats = true}) * v, x);
  // The third derivative.
  add(layer::square(grad), x);
  return 0.1f * sum;
});

}  // namespace

TEST_CASE("second derivatives of batch_norm are difference quotients") {
  laws::check_gradients(batches, {}, positive);
  check_engine(batches, false);
}
