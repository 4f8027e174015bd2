// SPDX-License-Identifier: Apache-2.0
// Costs under the names of PyTorch and Keras: values of the formulas, and the engine.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/layers/losses.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/gradient_machine.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;

namespace {

constexpr auto costs = program([](block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto y = layer::data<"y", float, 3>(main);
  auto z = layer::data<"z", float, 3>(main);
  auto kind = layer::data<"kind", float>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto mse = layer::mse_loss(x, y, {.name = "mse"});
  auto triplet = layer::triplet_margin_loss(x, y, z, {.name = "triplet"});
  auto swapped =
      layer::triplet_margin_loss(x, y, z, {.margin = 3, .swap = true, .name = "swapped"});
  auto focal = layer::focal_loss(x, label, {.alpha = 0.25f, .name = "focal"});
  auto plain = layer::focal_loss(x, label, {.gamma = 0, .name = "plain"});
  auto cosine = layer::cosine_embedding_loss(x, y, kind, {.margin = 0.25f, .name = "cosine"});
  return std::tuple{mse + layer::mean(triplet) + layer::mean(swapped) + layer::mean(focal) +
                        layer::mean(plain) + layer::mean(cosine),
                    triplet,
                    swapped,
                    focal,
                    plain,
                    cosine};
});

double length(const float* a, const float* b) {
  double sum = 0;
  for (int i = 0; i < 3; ++i) sum += std::pow(static_cast<double>(a[i]) - b[i] + 1e-6, 2);
  return std::sqrt(sum);
}

}  // namespace

TEST_CASE("losses: the formulas") {
  const lamina::model m{costs};
  lamina::evaluator e{m};
  const std::vector<float> x{1, 2, 3, -1, 0.5f, 2}, y{1, 1, 1, 2, 2, -2}, z{3, 0, 1, 2, 1, -2},
      kind{1, -1};
  const std::vector<std::int64_t> label{2, 0};
  e.forward(lamina::feed<"x">(x), lamina::feed<"y">(y), lamina::feed<"z">(z),
            lamina::feed<"kind">(kind), lamina::feed<"label">(label));
  const auto mse = e.activation<"mse">();
  const auto triplet = e.activation<"triplet">();
  const auto swapped = e.activation<"swapped">();
  const auto focal = e.activation<"focal">();
  const auto plain = e.activation<"plain">();
  const auto cosine = e.activation<"cosine">();
  double squares = 0;
  for (std::size_t i = 0; i < 6; ++i) squares += std::pow(static_cast<double>(x[i]) - y[i], 2);
  CHECK(mse(0) == Approx(squares / 6));
  for (std::size_t r = 0; r < 2; ++r) {
    const float *const a = &x[3 * r], *const p = &y[3 * r], *const n = &z[3 * r];
    const double near = length(a, p), far = length(a, n), other = length(p, n);
    CHECK(triplet(r, 0) == Approx(std::max(0.0, near - far + 1)));
    CHECK(swapped(r, 0) == Approx(std::max(0.0, near - std::min(far, other) + 3)));
    double sum = 0, products = 0, aa = 0, pp = 0;
    for (int i = 0; i < 3; ++i) {
      sum += std::exp(static_cast<double>(a[i]));
      products += static_cast<double>(a[i]) * p[i];
      aa += static_cast<double>(a[i]) * a[i];
      pp += static_cast<double>(p[i]) * p[i];
    }
    const double share = std::exp(static_cast<double>(a[label[r]])) / sum;
    CHECK(focal(r, 0) == Approx(-0.25 * std::pow(1 - share, 2) * std::log(share)));
    CHECK(plain(r, 0) == Approx(-std::log(share)));
    const double angle = products / std::sqrt(aa * pp);
    CHECK(cosine(r, 0) ==
          Approx(kind[r] == 1 ? 1 - angle : std::max(0.0, angle - 0.25)).margin(1e-6));
  }
}

TEST_CASE("losses: the engine") {
  lamina::law::check_engine(costs, {.low = 0.1f, .tolerance = 1e-4});
}
