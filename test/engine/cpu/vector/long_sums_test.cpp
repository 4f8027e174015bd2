// SPDX-License-Identifier: Apache-2.0
// Sums of many numbers keep their digits, whatever operator adds them up.
// Source: numpy/numpy#22956, tensorflow/tensorflow#51419.
#include <array>
#include <cmath>
#include <vector>

#include "sanitized.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cpu/vector/long_sums.hpp>
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

namespace {

// More than longest_chain of the engine: so long sums are added in parts.
constexpr int rows = test::is_sanitized ? 70'000 : 1'000'000;

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

// Rows of a table that each read adds to, weights of a narrow net, and a sequence of many elements.
constexpr auto table = lamina::program([](lamina::block& main) {
  auto ids = layer::data<"ids", std::int64_t>(main);
  auto x = layer::embedding<3, 2>(ids, {.param = {.name = "table"}});
  return layer::reduce_sum(layer::scale(x, static_cast<double>(each)));
});

constexpr auto weighted = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  auto hidden = layer::fc<17>(x, {.param = {.name = "w"}, .bias = false});
  return layer::mean(
      layer::fc<1>(hidden, {.param = {.name = "v", .initializer = lamina::init::constant(1)}}));
});

constexpr auto probabilities = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 1>(main);
  return layer::sequence_softmax(x, {.name = "probability"});
});

struct read_id {
  std::int64_t id;
};

struct row {
  std::array<float, 2> x;
};

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
  constexpr int ones = 20 * rows;  // no float is one more than 2^24
  e.forward(lamina::feed<"x">(std::vector<float>(2 * ones, 1.0f)));
  CHECK(e.activation<"sum">().data()[0] == static_cast<float>(ones));
  CHECK(e.activation<"all">().data()[0] == static_cast<float>(2 * ones));
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

TEST_CASE("the gradient of a row that is read very often keeps its digits") {
  lamina::model model{table};
  lamina::gradient_machine machine{model};
  std::vector<read_id> often(rows, read_id{1});
  often[5].id = 2;
  machine.backward(often);
  const auto slopes = machine.gradient<"table">();
  const double exact = static_cast<double>(each);
  for (int j = 0; j < 2; ++j) {
    CHECK(slopes(0, j) == 0);
    check(slopes(1, j), exact * (rows - 1));
    check(slopes(2, j), exact);
  }
}

TEST_CASE("the gradient of a weight over many rows keeps its digits") {
  lamina::model model{weighted};
  lamina::gradient_machine machine{model};
  machine.backward(std::vector<row>(rows, row{{each, 1}}));
  const auto slopes = machine.gradient<"w">();
  for (const int j : {0, 16}) {
    CHECK(std::abs(slopes(0, j) / each - 1) < 5e-5);
    CHECK(std::abs(slopes(1, j) - 1) < 5e-5);
  }
}

TEST_CASE("the probabilities of a long sequence add up to 1") {
  lamina::model model{probabilities};
  lamina::evaluator e{model};
  constexpr int length = 20 * rows;
  e.forward(lamina::feed<"x">(
      std::vector<std::vector<float>>{std::vector<float>(static_cast<std::size_t>(length), 1.f)}));
  check(e.activation<"probability">()(length - 1, 0), 1. / length);
}
