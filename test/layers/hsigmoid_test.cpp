// SPDX-License-Identifier: Apache-2.0
// hsigmoid: values by hand, and the engine against the executor.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/hsigmoid.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/model/gradient_machine.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;
using lamina::law::check_engine;

namespace {

template <int Classes, bool Bias = true>
constexpr auto tree = program([](block& main) {
  auto x = layer::data<"x", float, 9>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto y = layer::hsigmoid<Classes>(x, label, {.bias = Bias, .name = "y"});
  return std::tuple{layer::mean(y), y};
});

template <int Classes, int Samples>
constexpr auto sampled = program([](block& main) {
  auto x = layer::data<"x", float, 9>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto y = layer::nce<Classes, Samples>(x, label, {.seed = 5, .name = "y"});
  return std::tuple{layer::mean(y), y};
});

std::vector<float> numbers(std::size_t count, std::uint64_t seed) {
  std::vector<float> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = lamina::uniform_at(seed, 0, i) * 2 - 1;
  return all;
}

}  // namespace

TEST_CASE("hsigmoid and nce on the engine") {
  check_engine(tree<2>);
  check_engine(tree<7>, {.limit = 7});
  check_engine(tree<16, false>, {.limit = 16});
  check_engine(sampled<30, 4>, {.limit = 30, .rows_are_alone = false});
}

// The path of each class from the root, by its definition: the cost is a sum over its nodes.
TEST_CASE("hsigmoid by hand, and the probabilities of all classes add up to one") {
  constexpr int classes = 11;
  lamina::model m{tree<classes>, 4};
  auto bias = m.get(1);
  const auto values = numbers(classes - 1, 8);
  std::copy(values.begin(), values.end(), bias.begin());
  m.set(1, bias);
  const auto w = m.get(0);
  const auto x = numbers(9, 9);
  std::vector<float> rows;
  std::vector<std::int64_t> labels;
  for (int c = 0; c < classes; ++c) {
    rows.insert(rows.end(), x.begin(), x.end());
    labels.push_back(c);
  }
  lamina::evaluator e{m};
  e.forward(lamina::feed<"x">(rows), lamina::feed<"label">(labels));
  double sum = 0;
  for (std::size_t c = 0; c < classes; ++c) {
    const double cost = e.activation<"y">()(c, 0);
    sum += std::exp(-cost);
    double expected = 0;
    for (std::size_t at = c + classes; at > 1; at /= 2) {
      const std::size_t node = at / 2 - 1;
      double z = values[node];
      for (std::size_t k = 0; k < 9; ++k) z += static_cast<double>(x[k]) * w(node, k);
      expected += std::log1p(std::exp(z)) - static_cast<double>(at % 2) * z;
    }
    CHECK(cost == Approx(expected).margin(1e-5));
  }
  CHECK(sum == Approx(1).margin(1e-5));
}
