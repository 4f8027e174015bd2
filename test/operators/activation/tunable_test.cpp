// SPDX-License-Identifier: Apache-2.0
// Activations with attributes: gradients are derivatives.
#include <cmath>
#include <vector>

#include "executor/shared_executor.hpp"
#include "operators/pointwise_values.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>

#include <lamina/operators/operators.hpp>

using namespace pointwise_values;

TEST_CASE("gradients hold for other attributes than the defaults") {
  for (double x : smooth) {
    check_gradient<lamina::operators::gelu>({x}, 0, {1});
    check_gradient<lamina::operators::leaky_relu>({x}, 0, {0.3});
    check_gradient<lamina::operators::elu>({x}, 0, {0.5});
    check_gradient<lamina::operators::relu6>({x}, 0, {2});
    check_gradient<lamina::operators::brelu>({x}, 0, {-1, 1});
    check_gradient<lamina::operators::soft_relu>({x}, 0, {2});
    check_gradient<lamina::operators::stanh>({x}, 0, {0.3, 2});
    check_gradient<lamina::operators::hard_sigmoid>({x}, 0, {0.4, 0.1});
    check_gradient<lamina::operators::swish>({x}, 0, {1.5});
    check_gradient<lamina::operators::hard_swish>({x}, 0, {2, 3, 1});
    check_gradient<lamina::operators::hard_shrink>({x}, 0, {1});
    check_gradient<lamina::operators::softshrink>({x}, 0, {1});
    check_gradient<lamina::operators::thresholded_relu>({x}, 0, {0.5});
    check_gradient<lamina::operators::selu>({x}, 0, {2, 0.5});
    check_gradient<lamina::operators::clip>({x}, 0, {-1, 1.5});
    check_gradient<lamina::operators::scale>({x}, 0, {3, 2, 0});
    check_gradient<lamina::operators::pow>({x}, 0, {3});
  }
}
