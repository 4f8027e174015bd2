// SPDX-License-Identifier: Apache-2.0
// Attention of several heads: values by hand, and the engine; glu.
#include <algorithm>
#include <cmath>
#include <cstddef>
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
constexpr auto causal = program([](block& main) {
  auto q = layer::data<"q", float, 5, 12>(main);
  auto k = layer::data<"k", float, 5, 12>(main);
  auto v = layer::data<"v", float, 5, 6>(main);
  auto y = layer::scaled_dot_product_attention<Heads>(q, k, v, {.causal = true, .name = "y"});
  return std::tuple{layer::mean(y * y), y};
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

template <class Net>
void check_one_head(const Net& net, std::size_t count, bool is_causal) {
  const lamina::model m{net};
  lamina::evaluator e{m};
  const auto q = numbers(5 * 12, 1), k = numbers(count * 12, 2), v = numbers(count * 6, 3);
  e.forward(lamina::feed<"q">(q), lamina::feed<"k">(k), lamina::feed<"v">(v));
  const auto y = e.template activation<"y">();
  for (std::size_t i = 0; i < 5; ++i) {
    std::vector<double> weight(is_causal ? i + 1 : count);
    double sum = 0;
    for (std::size_t j = 0; j < weight.size(); ++j) {
      double product = 0;
      for (std::size_t c = 0; c < 12; ++c)
        product += static_cast<double>(q[i * 12 + c]) * k[j * 12 + c];
      sum += weight[j] = std::exp(product / std::sqrt(12.0));
    }
    for (std::size_t c = 0; c < 6; ++c) {
      double expected = 0;
      for (std::size_t j = 0; j < weight.size(); ++j) expected += weight[j] / sum * v[j * 6 + c];
      CHECK(y(0, i, c) == Approx(expected).margin(1e-6));
    }
  }
}

}  // namespace

TEST_CASE("glu and scaled_dot_product_attention on the engine") {
  check_engine(gated);
  check_engine(attention<1>);
  check_engine(attention<3>);
  check_engine(causal<1>);
  check_engine(causal<3>);
}

TEST_CASE("the parameters of attention have its name") {
  lamina::model m{causal<3>};
  CHECK(m.parameter<"y.w_0">().shape(0) == 12);  // queries
  CHECK(m.parameter<"y.w_1">().shape(1) == 12);  // keys
  CHECK(m.parameter<"y.w_2">().shape(1) == 6);   // values
  CHECK(m.parameter<"y.b_2">().size() == 6);
  CHECK(m.parameter_arrays() == 6);
}

// What stands behind a query changes nothing, and everything up to it does.
TEST_CASE("causal attention sees what came before") {
  const lamina::model m{causal<3>};
  lamina::evaluator e{m};
  const auto q = numbers(5 * 12, 1), v = numbers(5 * 6, 3);
  const auto k = numbers(5 * 12, 2);
  const auto seen = [&](const std::vector<float>& keys, const std::vector<float>& values) {
    e.forward(lamina::feed<"q">(q), lamina::feed<"k">(keys), lamina::feed<"v">(values));
    const auto y = e.activation<"y">();
    return std::vector<float>(y.begin(), y.end());
  };
  const auto before = seen(k, v);
  for (std::size_t changed = 0; changed < 5; ++changed) {
    auto other_v = v, other_k = k;
    for (std::size_t c = 0; c < 6; ++c) other_v[changed * 6 + c] += 1;
    for (std::size_t c = 0; c < 12; ++c) other_k[changed * 12 + c] += 1;
    const auto by_value = seen(k, other_v), by_key = seen(other_k, v);
    for (std::size_t i = 0; i < 5; ++i) {
      const auto same = [&](const std::vector<float>& after) {
        return std::equal(before.begin() + static_cast<std::ptrdiff_t>(i * 6),
                          before.begin() + static_cast<std::ptrdiff_t>(i * 6 + 6),
                          after.begin() + static_cast<std::ptrdiff_t>(i * 6));
      };
      CHECK(same(by_value) == (changed > i));
      CHECK(same(by_key) == (changed > i || i == 0));  // one key has all the weight
    }
  }
}

TEST_CASE("scaled_dot_product_attention by hand: one head") {
  check_one_head(attention<1>, 7, false);
  check_one_head(causal<1>, 5, true);
}
