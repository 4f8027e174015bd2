// SPDX-License-Identifier: Apache-2.0
// Activations with attributes: gradients are derivatives.
#include <cmath>
#include <vector>

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>

#include <lamina/operators/operators.hpp>
#include <lamina/operators/pointwise_evaluation.hpp>

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

TEST_CASE("gradients hold for other attributes than the defaults") {
  for (double x : smooth) {
    check_gradient<lamina::gelu>({x}, 0, {1});
    check_gradient<lamina::leaky_relu>({x}, 0, {0.3});
    check_gradient<lamina::elu>({x}, 0, {0.5});
    check_gradient<lamina::relu6>({x}, 0, {2});
    check_gradient<lamina::brelu>({x}, 0, {-1, 1});
    check_gradient<lamina::soft_relu>({x}, 0, {2});
    check_gradient<lamina::stanh>({x}, 0, {0.3, 2});
    check_gradient<lamina::hard_sigmoid>({x}, 0, {0.4, 0.1});
    check_gradient<lamina::swish>({x}, 0, {1.5});
    check_gradient<lamina::hard_swish>({x}, 0, {2, 3, 1});
    check_gradient<lamina::hard_shrink>({x}, 0, {1});
    check_gradient<lamina::softshrink>({x}, 0, {1});
    check_gradient<lamina::thresholded_relu>({x}, 0, {0.5});
    check_gradient<lamina::selu>({x}, 0, {2, 0.5});
    check_gradient<lamina::clip>({x}, 0, {-1, 1.5});
    check_gradient<lamina::scale>({x}, 0, {3, 2, 0});
    check_gradient<lamina::pow>({x}, 0, {3});
  }
}
