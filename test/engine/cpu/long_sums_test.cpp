// SPDX-License-Identifier: Apache-2.0
// Sums of many numbers keep their digits, whatever operator adds them up.
// Source: numpy/numpy#22956, tensorflow/tensorflow#51419.
#include <array>
#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

namespace {

constexpr int rows = 1'000'000;
constexpr float each = 100.1f;

constexpr auto sums = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  layer::reduce_mean<0>(x, {.name = "mean"});
  layer::reduce_sum<0>(x, {.name = "sum"});
  layer::reduce_sum<0, 1>(x, {.name = "all"});
  return layer::mean(x, {.name = "cost"});
});
// The gradient of b is the sum of the slopes.
constexpr auto biased = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  auto y = layer::elementwise_mul(
      layer::fc<1>(
          x, {.param = {.initializer = lamina::init::constant(0)}, .bias_param = {.name = "b"}}),
      layer::data<"slope", float, 1>(main));
  return layer::reduce_sum<0>(y);
});

struct sample {
  std::array<float, 2> x;
  float slope;
};

void check(double got, double wanted) { CHECK(std::abs(got - wanted) <= 2e-7 * std::abs(wanted)); }

}  // namespace

TEST_CASE("sums over many rows keep their digits") {
  lamina::model model{sums};
  lamina::evaluator e{model};
  e.forward(lamina::feed<"x">(std::vector<float>(2 * rows, each)));
  const double exact = static_cast<double>(each);
  for (int i = 0; i < 2; ++i) {
    check(e.activation<"mean">().data()[i], exact);
    check(e.activation<"sum">().data()[i], exact * rows);
  }
  check(e.activation<"all">().data()[0], exact * 2 * rows);
  check(e.activation<"cost">().data()[0], exact);
}

TEST_CASE("a sum of more ones than a float counts") {
  lamina::model model{sums};
  lamina::evaluator e{model};
  e.forward(lamina::feed<"x">(std::vector<float>(40'000'000, 1.0f)));
  CHECK(e.activation<"sum">().data()[0] == 2e7f);
  CHECK(e.activation<"all">().data()[0] == 4e7f);
  CHECK(e.activation<"mean">().data()[1] == 1);
}

TEST_CASE("sums of an infinity are infinite, of a NaN NaN") {
  lamina::model model{sums};
  lamina::evaluator e{model};
  std::vector<float> x(2000, 1);
  x[400] = INFINITY, x[401] = NAN;
  e.forward(lamina::feed<"x">(x));
  CHECK(e.activation<"sum">().data()[0] == INFINITY);
  CHECK(std::isnan(e.activation<"sum">().data()[1]));
}

TEST_CASE("the gradient of a bias over many rows keeps its digits") {
  lamina::model model{biased};
  lamina::gradient_machine machine{model};
  machine.backward(std::vector<sample>(rows, {{1, 1}, each}));
  check(machine.gradient<"b">().data()[0], static_cast<double>(each) * rows);
}
