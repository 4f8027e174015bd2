// SPDX-License-Identifier: Apache-2.0
// Attention of several heads: values by hand, and the engine; glu.
#include <cmath>
#include <tuple>
#include <vector>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/layers/scaled_dot_product_attention.hpp>
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
