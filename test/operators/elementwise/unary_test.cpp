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

TEMPLATE_TEST_CASE("unary gradients are the derivatives", "", lamina::relu, lamina::tanh,
                   lamina::sigmoid, lamina::logsigmoid, lamina::softplus, lamina::softsign,
                   lamina::tanh_shrink, lamina::gelu, lamina::selu, lamina::exp, lamina::square,
                   lamina::reciprocal, lamina::abs, lamina::sin, lamina::cos, lamina::atan,
                   lamina::ceil, lamina::floor, lamina::round, lamina::sign, lamina::leaky_relu,
                   lamina::elu, lamina::relu6, lamina::brelu, lamina::soft_relu, lamina::stanh,
                   lamina::hard_sigmoid, lamina::swish, lamina::hard_swish, lamina::pow,
                   lamina::hard_shrink, lamina::softshrink, lamina::thresholded_relu,
                   lamina::scale) {
  check_at<TestType>(smooth);
}

TEMPLATE_TEST_CASE("gradients of functions of positive numbers", "", lamina::log, lamina::sqrt,
                   lamina::rsqrt) {
  check_at<TestType>({0.1, 0.7, 1.3, 4.2});
}

TEMPLATE_TEST_CASE("gradients of functions of numbers below one", "", lamina::asin, lamina::acos) {
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
