// SPDX-License-Identifier: Apache-2.0
// l2_normalize: directions of vectors whose length is no float.
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "laws/edge_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;

namespace {

using numbers = std::vector<double>;

constexpr int width = 20;

// Along the last dimension, along one before it, and the gradients of both.
constexpr auto directions = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, width>(main);
  auto w = layer::data<"w", float, width>(main);
  auto along = layer::l2_normalize(x, {.epsilon = 0});
  auto across = layer::l2_normalize<1>(layer::reshape<2, 10>(x), {.epsilon = 0});
  return std::tuple{layer::mean((along + layer::reshape<width>(across)) * w), along, across};
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

TEST_CASE("norms: directions of vectors whose length is no float") {
  const numbers one = waves(1.3), w = waves(0.7);
  const auto plain = lamina::law::check_edges(directions, {one, w}, 1, 1e-4, 1e-7);
  for (const double size : {1e38, 1e-39}) {
    INFO("numbers around " << size);
    // Slopes are such that gradients are of ordinary size again.
    const double slope = size > 1 ? 1e30 : 1e-30;
    const auto all = lamina::law::check_edges(directions, {scaled(one, size), scaled(w, slope)}, 1,
                                              1e-4, 1e-6 * slope / size);
    for (std::size_t k : {1u, 2u})
      for (std::size_t i = 0; i < width; ++i) CHECK(all[k][i] == Approx(plain[k][i]).epsilon(1e-5));
    // The gradient is that of vectors of ordinary size, divided by their size.
    const numbers &found = all[4], &expected = plain[4];  // behind the gradient of w
    REQUIRE(found.size() == width);
    for (std::size_t i = 0; i < width; ++i)
      CHECK(found[i] * (size / slope) == Approx(expected[i]).epsilon(1e-3).margin(1e-5));
  }
  // Infinity has no direction, and is not hidden.
  const auto all = lamina::law::check_edges(
      directions, {scaled(one, std::numeric_limits<double>::infinity()), w}, 1, 1e-4);
  for (const double v : all[1]) CHECK(std::isnan(v));
}
