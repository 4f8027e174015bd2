// SPDX-License-Identifier: Apache-2.0
// Arithmetic of two operands: gradients, broadcasts, remainders.
#include <cmath>
#include <vector>

#include "executor/shared_executor.hpp"
#include "operators/pointwise_values.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>

#include <lamina/layers/layers.hpp>

using namespace pointwise_values;
namespace layer = lamina::layer;
using lamina::block;

TEMPLATE_TEST_CASE("gradients of elementwise operators", "", lamina::operators::elementwise_add,
                   lamina::operators::elementwise_sub, lamina::operators::elementwise_mul,
                   lamina::operators::elementwise_div, lamina::operators::elementwise_max,
                   lamina::operators::elementwise_min) {
  for (double x : smooth)
    for (double y : {-1.5, 0.6, 2.2}) check_gradient<TestType>({x, y});
}

TEST_CASE("the gradient of a power") {
  for (double x : {0.4, 1.3})
    for (double y : {-1.5, 0.6, 2.2}) check_gradient<lamina::operators::elementwise_pow>({x, y});
}

TEST_CASE("remainders have the sign of the divisor") {
  CHECK(value<lamina::operators::elementwise_mod>(0, {-7, 3}) == 2);
  CHECK(value<lamina::operators::elementwise_floordiv>(0, {-7, 3}) == -3);
  CHECK(lamina::operators::elementwise_mod::f(std::int64_t{-7}, std::int64_t{3}) == 2);
  CHECK(lamina::operators::elementwise_mod::f(7, -3) == -2);
  CHECK(lamina::operators::elementwise_floordiv::f(-7, 3) == -3);
  CHECK(lamina::operators::elementwise_floordiv::f(6, -3) == -2);
}

TEST_CASE("gradient: + - * / of two variables, max, min and pow") {
  laws::gradient_options positive;
  positive.low = 0.2f;
  positive.high = 0.9f;
  laws::check_gradients(lamina::program([](block& main) {
                          auto x = layer::data<"x", float, 3>(main);
                          auto y = layer::data<"y", float, 3>(main);
                          auto a = x * y + x / y - y;
                          auto b = layer::elementwise_max(x, y) * layer::elementwise_min(x * x, y);
                          return layer::mean(a + b + layer::elementwise_pow(x, y));
                        }),
                        {}, positive);
}

TEST_CASE("gradient: a smaller operand receives the sum over its copies") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 4, 5>(main);
    auto y = layer::data<"y", float, 4>(main);
    auto z = layer::elementwise_mul<0>(x, y);
    return layer::mean(
        layer::square(layer::elementwise_add<1>(z, layer::reduce_sum<0>(layer::fc<4>(y)))));
  }));
}
