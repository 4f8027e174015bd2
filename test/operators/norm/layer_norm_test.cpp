// SPDX-License-Identifier: Apache-2.0
// layer_norm and l2_normalize: gradients, edge values, the engine.
#include <array>
#include <cmath>
#include <tuple>
#include <vector>

#include "engine/edge_programs.hpp"
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

TEST_CASE("gradient: layer_norm with and without factor and offset") {
  laws::gradient_options options;
  options.tolerance = 1e-5;
  laws::check_gradients(lamina::program([](block& main) {
                          auto x = layer::data<"x", float, 2, 3>(main);
                          auto a = layer::layer_norm(x);
                          auto b = layer::layer_norm<2>(x, {.scale = false, .shift = false});
                          return layer::mean(a * layer::square(x) + b * x);
                        }),
                        {}, options);
}

namespace {

template <int W>
constexpr auto normalised = program([](block& main) {
  auto x = layer::data<"x", float, W>(main);
  auto maps = layer::data<"maps", float, 3, W>(main);
  auto a = layer::layer_norm(x);
  auto b = layer::layer_norm<2>(maps);
  auto c = layer::layer_norm(maps, {.scale = false});
  auto d = layer::layer_norm<2>(maps, {.shift = false});
  auto e = layer::l2_normalize(x, {.epsilon = 1e-4f});
  auto f = layer::l2_normalize<1>(maps, {.epsilon = 1e-4f});
  auto cost = layer::mean(a * x) + layer::mean(b * b * b) + layer::mean(c * maps) +
              layer::mean(d * d * maps) + layer::mean(e * x) + layer::mean(f * f * f);
  return std::tuple{cost, a, b, c, d, e, f};
});

}  // namespace

TEST_CASE("norms on the engine are those of the executor") {
  engine_law_options o;
  o.tolerance = 1e-4;
  check_engine(normalised<5>, o);
  check_engine(normalised<16>, o);
  check_engine(normalised<33>, o);
}

namespace {

using lamina::law::check_finite;

using namespace test::edges;

constexpr auto equal_numbers = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 1000>(main);
  auto image = layer::reshape<10, 10, 10>(x);
  auto row = layer::layer_norm(x, {.scale = false, .shift = false});
  return std::tuple{layer::mean(row), row,
                    layer::group_norm<2>(image, {.scale = false, .shift = false}),
                    layer::instance_norm(image, {.scale = false, .shift = false})};
});

}  // namespace

// tracel-ai/burn#5584, google-deepmind/optax#946
TEST_CASE("norms of zero vectors and of vectors around 1e20") {
  numbers some, other;
  for (int i = 0; i < 20; ++i) some.push_back(std::sin(i + 1.)), other.push_back(std::cos(3. * i));
  numbers x, y;
  const std::array<std::array<double, 2>, 7> sizes{
      {{0, 1}, {1, 0}, {0, 0}, {1, 1}, {1e20, 1e19}, {1e-22, 1}, {1e-18, 1e18}}};
  for (const auto& [a, b] : sizes)
    for (std::size_t i = 0; i < 20; ++i) x.push_back(a * some[i]), y.push_back(b * other[i]);
  const auto all = lamina::law::check_edges(norms, {x, y}, 7, 1e-4);
  check_finite(all);
  for (const int row : {0, 1, 2}) CHECK(all[1][static_cast<std::size_t>(row)] == 0);
  for (const int row : {4, 5, 6})
    CHECK(all[1][static_cast<std::size_t>(row)] == Approx(all[1][3]).epsilon(1e-5));
  for (const int k : {2, 3})  // directions do not depend on sizes
    for (const std::size_t row : {4u, 5u, 6u})
      for (std::size_t i = 0; i < 20; ++i)
        CHECK(all[static_cast<std::size_t>(k)][row * 20 + i] ==
              Approx(all[static_cast<std::size_t>(k)][60 + i]).epsilon(1e-5));
  for (std::size_t i = 0; i < 20; ++i)
    CHECK(all[4][80 + i] == Approx(all[4][60 + i]).epsilon(1e-4).margin(1e-5));
  check_finite(lamina::law::check_edges(
      slopes_of_norms, {numbers(x.begin(), x.begin() + 100), numbers(100, 1.)}, 5, 2e-2, 1e-5));
}

// pytorch/pytorch#162489
TEST_CASE("norms: numbers whose sum, and slopes whose product, is more than a float") {
  numbers x, w;
  for (int i = 0; i < 36; ++i) w.push_back(std::cos(i * 0.7)), x.push_back(3 + std::sin(1.3 * i));
  for (const double size : {1e20, 3e37})
    for (const double slope : {1., 3e20}) {
      INFO(size << " and slopes of " << slope);
      numbers of_x, of_w;
      for (const double v : x) of_x.push_back(size * v);
      for (const double v : w) of_w.push_back(slope * v);
      check_finite(lamina::law::check_edges(groups, {of_x, of_w}, 1, 1e-3));
    }
}

// pytorch/pytorch#5410, BVLC/caffe#3963
TEST_CASE("norms of equal numbers are 0, however large they are") {
  for (const double each : {100.1, 1e7 + 1, 123456.7, 1e20, -3e38, 1e-40}) {
    INFO("numbers " << each);
    const auto all = lamina::law::check_edges(equal_numbers, {numbers(2000, each)}, 2, 1e-5, 1e-3);
    for (std::size_t k = 0; k < 4; ++k)
      for (const double y : all[k])
        if (y != 0) FAIL("found " << y << " in result " << k);
  }
}

namespace {

using numbers = std::vector<double>;

}  // namespace
