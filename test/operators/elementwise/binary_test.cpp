// SPDX-License-Identifier: Apache-2.0
// Arithmetic of two operands: gradients, broadcasts, remainders.
#include <cmath>
#include <vector>

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/operators/pointwise_evaluation.hpp>

namespace layer = lamina::layer;
using lamina::block;

namespace {

/// Places where every activation is smooth: no kink of any of them lies near.
const std::vector<double> smooth{-2.3, -1.1, -0.83, -0.37, 0.21, 0.42, 0.93, 1.7, 2.6};

/// Arguments of f: the inputs, then the default attributes.
template <class Op>
std::vector<double> with_attributes(std::vector<double> inputs,
                                    const std::vector<double>& given = {}) {
  for (int i = 0; i < lamina::scalars_of<Op>; ++i)
    inputs.push_back(static_cast<std::size_t>(i) < given.size()
                         ? given[static_cast<std::size_t>(i)]
                         : Op::attributes[static_cast<std::size_t>(i)].number);
  return inputs;
}

/// Output `k` of a pointwise operator, through the function its schema carries.
template <class Op>
double value(int k, const std::vector<double>& arguments) {
  std::vector<const double*> at;
  std::vector<int> stride(arguments.size(), 0);
  for (const double& a : arguments) at.push_back(&a);
  double out = std::nan("");
  lamina::registered<Op>::value.evaluate_double(k, 1, at.data(), stride.data(), &out);
  return out;
}

/// Compares the gradient operator with central differences of output `k` in input `slot`.
template <class Op>
void check_gradient(const std::vector<double>& inputs, int k = 0,
                    const std::vector<double>& given = {}) {
  using gradient = lamina::gradient_of<Op>;
  const double h = 1e-5, dy = 1.7;
  std::vector<double> read;
  for (std::size_t i = 0; i < Op::inputs.size(); ++i)
    if (Op::gradient_inputs >> i & 1u) read.push_back(inputs[i]);
  for (std::size_t i = 0; i < Op::outputs.size(); ++i)
    if (Op::gradient_outputs >> i & 1u)
      read.push_back(value<Op>(static_cast<int>(i), with_attributes<Op>(inputs, given)));
  read.push_back(dy);
  read = with_attributes<Op>(read, given);
  int number = 0;
  for (std::size_t slot = 0; slot < Op::inputs.size(); ++slot) {
    if (!(Op::differentiable >> slot & 1u)) continue;
    std::vector<double> up = inputs, down = inputs;
    up[slot] += h, down[slot] -= h;
    const double expected = dy *
                            (value<Op>(k, with_attributes<Op>(up, given)) -
                             value<Op>(k, with_attributes<Op>(down, given))) /
                            (2 * h);
    INFO(Op::type << " slot " << slot << " at " << inputs[0]);
    CHECK(value<gradient>(number++, read) == Approx(expected).epsilon(1e-6).margin(1e-8));
  }
}

template <class Op>
double at(double x) {
  return value<Op>(0, with_attributes<Op>({x}));
}

}  // namespace

TEMPLATE_TEST_CASE("gradients of elementwise operators", "", lamina::elementwise_add,
                   lamina::elementwise_sub, lamina::elementwise_mul, lamina::elementwise_div,
                   lamina::elementwise_max, lamina::elementwise_min) {
  for (double x : smooth)
    for (double y : {-1.5, 0.6, 2.2}) check_gradient<TestType>({x, y});
}

TEST_CASE("the gradient of a power") {
  for (double x : {0.4, 1.3})
    for (double y : {-1.5, 0.6, 2.2}) check_gradient<lamina::elementwise_pow>({x, y});
}

TEST_CASE("remainders have the sign of the divisor") {
  CHECK(value<lamina::elementwise_mod>(0, {-7, 3}) == 2);
  CHECK(value<lamina::elementwise_floordiv>(0, {-7, 3}) == -3);
  CHECK(lamina::elementwise_mod::f(std::int64_t{-7}, std::int64_t{3}) == 2);
  CHECK(lamina::elementwise_mod::f(7, -3) == -2);
  CHECK(lamina::elementwise_floordiv::f(-7, 3) == -3);
  CHECK(lamina::elementwise_floordiv::f(6, -3) == -2);
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
