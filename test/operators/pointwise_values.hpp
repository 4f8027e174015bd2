// SPDX-License-Identifier: Apache-2.0
// Values and gradients of pointwise operators at single numbers.
#pragma once

#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/operators/gradient.hpp>
#include <lamina/operators/pointwise_evaluation.hpp>

namespace pointwise_values {

/// Arguments at which every activation is smooth: no kink is near.
inline const std::vector<double> smooth{-2.3, -1.1, -0.83, -0.37, 0.21, 0.42, 0.93, 1.7, 2.6};

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

/// Output 0 at `x`, with the default attributes.
template <class Op>
double at(double x) {
  return value<Op>(0, with_attributes<Op>({x}));
}

}  // namespace pointwise_values
