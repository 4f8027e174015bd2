// SPDX-License-Identifier: Apache-2.0
// cos_sim and l2_normalize: gradients, edge values, the engine.
#include <cmath>
#include <tuple>
#include <vector>

#include "executor/shared_executor.hpp"
#include "laws/edge_law.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;
using lamina::law::check_engine;
using lamina::law::engine_law_options;

TEST_CASE("gradient: l2_normalize and cos_sim") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 4>(main);
    auto y = layer::data<"y", float, 4>(main);
    auto n = layer::l2_normalize(x) * y;
    return layer::mean(layer::elementwise_mul<0>(n, layer::cos_sim(x, y)));
  }));
}

namespace {

template <int W>
constexpr auto distances = program([](block& main) {
  auto x = layer::data<"x", float, W>(main);
  auto y = layer::data<"y", float, W>(main);
  auto inside = layer::data<"inside", float, W>(main);
  auto outside = layer::data<"outside", float, W>(main);
  auto one = layer::fill_constant<float, 1, W>(main, 0.25);
  auto a = layer::smooth_l1(x, y);
  auto b = layer::smooth_l1(x, y, inside, outside, {.sigma = 2.0f});
  auto c = layer::cos_sim(x, y);
  auto d = layer::cos_sim(x, one);
  auto e = layer::kldiv_loss(x, y);
  auto f = layer::label_smooth(x, {.epsilon = 0.2f});
  auto g = layer::sigmoid_cross_entropy_with_logits(x, y);
  auto cost = layer::mean(a * a) + layer::mean(b * b) + layer::mean(c * c) + layer::mean(d * d) +
              e + layer::mean(f * f) + layer::mean(g * g);
  return std::tuple{cost, a, b, c, d, e, f, g};
});

}  // namespace

TEST_CASE("distances on the engine are those of the executor") {
  const engine_law_options o{.low = 0.1f};
  check_engine(distances<1>, o);
  check_engine(distances<5>, o);
  check_engine(distances<33>, o);
}

namespace {

using numbers = std::vector<double>;

constexpr int width = 20;

constexpr auto cosines = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, width>(main);
  auto y = layer::data<"y", float, width>(main);
  auto w = layer::data<"w", float, 1>(main);
  auto cosine = layer::cos_sim(x, y);
  return std::tuple{layer::mean(cosine * w), cosine};
});

numbers scaled(const numbers& x, double factor) {
  numbers y;
  for (const double v : x) y.push_back(factor * v);
  return y;
}

numbers waves(double step) {
  numbers x;
  for (int i = 0; i < width; ++i) x.push_back(2 + std::sin(step * i));
  return x;
}

}  // namespace

TEST_CASE("norms: the cosine of vectors whose length is no float") {
  const numbers x = waves(1.3), y = waves(0.7);
  const auto plain = lamina::law::check_edges(cosines, {x, y, {1}}, 1, 1e-4, 1e-7);
  for (const double size : {1e38, 1e-39}) {
    INFO("numbers around " << size);
    const double slope = size > 1 ? 1e30 : 1e-30;
    const auto all = lamina::law::check_edges(cosines, {scaled(x, size), scaled(y, size), {slope}},
                                              1, 1e-4, 1e-6 * slope / size);
    CHECK(all[1][0] == Approx(plain[1][0]).epsilon(1e-5));
    for (std::size_t k : {3u, 4u})
      for (std::size_t i = 0; i < width; ++i)
        CHECK(all[k][i] * (size / slope) == Approx(plain[k][i]).epsilon(1e-3).margin(1e-5));
  }
}
