// SPDX-License-Identifier: Apache-2.0
// Elementary functions: gradients are derivatives, on the executor too.
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

namespace {

template <class Op>
void check_at(const std::vector<double>& places) {
  for (double x : places) check_gradient<Op>({x});
}

}  // namespace

TEMPLATE_TEST_CASE("unary gradients are the derivatives", "", lamina::operators::relu,
                   lamina::operators::tanh, lamina::operators::sigmoid,
                   lamina::operators::logsigmoid, lamina::operators::softplus,
                   lamina::operators::softsign, lamina::operators::tanh_shrink,
                   lamina::operators::gelu, lamina::operators::selu, lamina::operators::mish,
                   lamina::operators::exp, lamina::operators::square, lamina::operators::reciprocal,
                   lamina::operators::abs, lamina::operators::sin, lamina::operators::cos,
                   lamina::operators::atan, lamina::operators::erf, lamina::operators::ceil,
                   lamina::operators::floor, lamina::operators::round, lamina::operators::sign,
                   lamina::operators::leaky_relu, lamina::operators::elu, lamina::operators::relu6,
                   lamina::operators::brelu, lamina::operators::soft_relu, lamina::operators::stanh,
                   lamina::operators::hard_sigmoid, lamina::operators::swish,
                   lamina::operators::hard_swish, lamina::operators::pow,
                   lamina::operators::hard_shrink, lamina::operators::softshrink,
                   lamina::operators::thresholded_relu, lamina::operators::scale) {
  check_at<TestType>(smooth);
}

TEMPLATE_TEST_CASE("gradients of functions of positive numbers", "", lamina::operators::log,
                   lamina::operators::sqrt, lamina::operators::rsqrt) {
  check_at<TestType>({0.1, 0.7, 1.3, 4.2});
}

TEMPLATE_TEST_CASE("gradients of functions of numbers below one", "", lamina::operators::asin,
                   lamina::operators::acos) {
  check_at<TestType>({-0.9, -0.2, 0.3, 0.8});
}

TEST_CASE("gradient: elementary functions") {
  laws::gradient_options positive;
  positive.low = 0.2f;
  positive.high = 0.9f;
  laws::check_gradients(lamina::program([](block& main) {
                          auto x = layer::data<"x", float, 3>(main);
                          auto y = layer::exp(x) + layer::log(x) + layer::sqrt(x) +
                                   layer::square(x) + layer::reciprocal(x);
                          return layer::mean(layer::sin(y) * layer::cos(x) + layer::softplus(x));
                        }),
                        {}, positive);
}
