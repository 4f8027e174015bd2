// SPDX-License-Identifier: Apache-2.0
// Layers that are made of operators: glu, scaled_dot_product_attention, hsigmoid, nce; by hand, and
// on the compiled engine as on the executor.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/model/gradient_machine.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;
using lamina::law::check_engine;

namespace {

constexpr auto gated = program([](block& main) {
  auto x = layer::data<"x", float, 3, 10>(main);
  auto a = layer::glu(x, {.name = "a"});
  auto b = layer::glu<2>(layer::reshape<5, 6>(x));
  return std::tuple{layer::mean(a * a) + layer::mean(b * b), a, b};
});

template <int Heads>
constexpr auto attention = program([](block& main) {
  auto q = layer::data<"q", float, 5, 12>(main);
  auto k = layer::data<"k", float, 7, 12>(main);
  auto v = layer::data<"v", float, 7, 6>(main);
  auto y = layer::scaled_dot_product_attention<Heads>(q, k, v, {.name = "y"});
  return std::tuple{layer::mean(y * y), y};
});

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

TEST_CASE("glu and scaled_dot_product_attention on the engine") {
  check_engine(gated);
  check_engine(attention<1>);
  check_engine(attention<3>);
}

TEST_CASE("scaled_dot_product_attention by hand: one head") {
  const lamina::model m{attention<1>};
  lamina::evaluator e{m};
  const auto q = numbers(5 * 12, 1), k = numbers(7 * 12, 2), v = numbers(7 * 6, 3);
  e.forward(lamina::feed<"q">(q), lamina::feed<"k">(k), lamina::feed<"v">(v));
  const auto y = e.activation<"y">();
  for (std::size_t i = 0; i < 5; ++i) {
    double weight[7], sum = 0;
    for (std::size_t j = 0; j < 7; ++j) {
      double product = 0;
      for (std::size_t c = 0; c < 12; ++c)
        product += static_cast<double>(q[i * 12 + c]) * k[j * 12 + c];
      sum += weight[j] = std::exp(product / std::sqrt(12.0));
    }
    for (std::size_t c = 0; c < 6; ++c) {
      double expected = 0;
      for (std::size_t j = 0; j < 7; ++j) expected += weight[j] / sum * v[j * 6 + c];
      CHECK(y(0, i, c) == Approx(expected).margin(1e-6));
    }
  }
}

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

TEST_CASE("nce by hand: where all classes score alike") {
  constexpr int classes = 30, samples = 4, batch = 40;
  lamina::model m{sampled<classes, samples>, 4};
  auto w = m.get(0), bias = m.get(1);
  std::fill(w.begin(), w.end(), 0.0f);
  std::fill(bias.begin(), bias.end(), 0.7f);
  m.set(0, w);
  m.set(1, bias);
  const std::vector<float> x(batch * 9, 1.0f);
  const std::vector<std::int64_t> labels(batch, 3);
  lamina::evaluator v{m};
  v.forward(lamina::feed<"x">(x), lamina::feed<"label">(labels));
  const double o = 1 / (1 + std::exp(-0.7)), noise = static_cast<double>(samples) / classes;
  const double expected = -std::log(o / (o + noise)) - samples * std::log(noise / (o + noise));
  for (std::size_t i = 0; i < batch; ++i)
    CHECK(v.activation<"y">()(i, 0) == Approx(expected).margin(1e-5));
  // Each sample draws its class down, and 160 of them leave hardly one of 30 out; labels go up.
  lamina::gradient_machine g{m};
  const void* const data[] = {x.data(), labels.data()};
  g.backward(batch, data);
  const auto gradient = g.gradient<"y.b_0">();
  int drawn = 0;
  for (std::size_t c = 0; c < classes; ++c) {
    const float up = gradient(c, 0);
    CHECK((c == 3 ? up < 0 : up >= 0));
    drawn += up > 0;
  }
  CHECK(drawn > 25);
}
