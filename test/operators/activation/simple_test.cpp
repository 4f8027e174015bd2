// SPDX-License-Identifier: Apache-2.0
// Activations: values of Fluid, gradients.
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

template <class Op>
double at(double x) {
  return value<Op>(0, with_attributes<Op>({x}));
}

}  // namespace

TEST_CASE("activations have Fluid's values") {
  CHECK(at<lamina::operators::leaky_relu>(-2) == Approx(-0.04));
  CHECK(at<lamina::operators::elu>(-1) == Approx(std::exp(-1.0) - 1));
  CHECK(at<lamina::operators::relu6>(7) == 6);
  CHECK(at<lamina::operators::brelu>(30) == 24);
  CHECK(at<lamina::operators::brelu>(-3) == 0);
  CHECK(at<lamina::operators::soft_relu>(1) == Approx(std::log(1 + std::exp(1.0))));
  CHECK(at<lamina::operators::soft_relu>(50) == Approx(40));
  CHECK(at<lamina::operators::stanh>(1) == Approx(1.7159 * std::tanh(0.67)));
  CHECK(at<lamina::operators::hard_sigmoid>(1) == Approx(0.7));
  CHECK(at<lamina::operators::hard_sigmoid>(9) == 1);
  CHECK(at<lamina::operators::swish>(2) == Approx(2 / (1 + std::exp(-2.0))));
  CHECK(at<lamina::operators::hard_swish>(1) == Approx(4.0 / 6));
  CHECK(at<lamina::operators::hard_swish>(8) == Approx(8));
  CHECK(at<lamina::operators::hard_shrink>(0.4) == 0);
  CHECK(at<lamina::operators::hard_shrink>(-0.6) == -0.6);
  CHECK(at<lamina::operators::softshrink>(-1.5) == -1);
  CHECK(at<lamina::operators::thresholded_relu>(0.9) == 0);
  CHECK(at<lamina::operators::logsigmoid>(-800) == Approx(-800));
  CHECK(at<lamina::operators::softplus>(800) == Approx(800));
  CHECK(at<lamina::operators::softsign>(-3) == Approx(-0.75));
  CHECK(at<lamina::operators::tanh_shrink>(1) == Approx(1 - std::tanh(1.0)));
  CHECK(at<lamina::operators::gelu>(1) == Approx(0.8413447460685429));
  CHECK(value<lamina::operators::gelu>(0, {1, 1}) == Approx(0.8411919906082768));
  CHECK(at<lamina::operators::mish>(1) == Approx(0.8650983882673103));  // PyTorch's values
  CHECK(at<lamina::operators::mish>(-2) == Approx(-0.2525014826957089));
  CHECK(value<lamina::operators::mish>(0, {1, 0.5}) == Approx(std::tanh(1.0)));
  CHECK(value<lamina::gradient_of<lamina::operators::mish>>(0, {1, 1, 0.5}) ==
        Approx(std::tanh(1.0) + 1 - std::tanh(1.0) * std::tanh(1.0)));
  CHECK(at<lamina::operators::mish>(-700) == Approx(-6.90177358063184e-302).epsilon(1e-12));
  CHECK(value<lamina::gradient_of<lamina::operators::mish>>(0, {-2, 1, 20}) ==
        Approx(-0.1083550924203939));
  CHECK(at<lamina::operators::selu>(-1) ==
        Approx(1.0507009873554805 * 1.6732632423543772 * (std::exp(-1.0) - 1)));
  CHECK(at<lamina::operators::round>(-2.5) == -3);
  CHECK(at<lamina::operators::sign>(-0.1) == -1);
  CHECK(value<lamina::operators::pow>(0, {3, 2}) == 9);
}

TEST_CASE("gradient: activations") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 4>(main);
    auto h = layer::fc<5>(x, {.act = lamina::activation::tanh});
    h = layer::fc<5>(h, {.act = lamina::activation::sigmoid});
    return layer::mean(layer::fc<3>(h, {.act = lamina::activation::relu}));
  }));
}
