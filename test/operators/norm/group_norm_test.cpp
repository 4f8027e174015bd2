// SPDX-License-Identifier: Apache-2.0
// group_norm, instance_norm and lrn: values by hand, edge values, and the laws of all
// operators.
#include <cmath>
#include <tuple>
#include <vector>

#include "engine/edge_programs.hpp"
#include "executor/run_program.hpp"
#include "laws/edge_law.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using executed::values_of;
using lamina::block;
using lamina::program;
using lamina::law::check_engine;
using lamina::law::check_finite;
using namespace test::edges;

namespace {

void check_close(const lamina::tensor& t, const std::vector<double>& expected) {
  const std::vector<double> found = values_of(t);
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK(found[i] == Approx(expected[i]).margin(1e-6));
}

}  // namespace

TEST_CASE("group_norm, instance_norm and lrn by hand") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 4, 1, 1>(main);
    auto pairs = layer::group_norm<2>(
        x, {.epsilon = 0.0f, .param = {.initializer = lamina::init::array({1, 2, 3, 4})}});
    auto pictures = layer::data<"pictures", float, 2, 1, 2>(main);
    auto alone = layer::instance_norm(pictures, {.scale = false, .shift = false, .epsilon = 0.0f});
    auto local = layer::lrn(x, {.n = 3, .k = 1, .alpha = 0.5f, .beta = 1});
    return std::tuple{pairs, alone, local};
  });
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(net.view(), scope);
  CHECK(net.parameter_count() == 8);
  const lamina::tensor x(lamina::tensor_shape{1, 4, 1, 1}, std::vector<float>{1, 3, -2, 0});
  const lamina::tensor pictures(lamina::tensor_shape{1, 2, 1, 2}, std::vector<float>{4, 8, 5, 3});
  const auto r = executor.run(net.view(), scope, {{"x", x}, {"pictures", pictures}});
  check_close(r[0], {-1, 2, -3, 4});
  check_close(r[1], {-1, 1, 1, -1});
  check_close(r[2], {1 / 6.0, 3 / 8.0, -2 / 7.5, 0});
}

namespace {

template <int C, int H, int W, int Groups>
constexpr auto alone = program([](block& main) {
  auto x = layer::data<"x", float, C, H, W>(main);
  auto w = layer::data<"w", float, C, H, W>(main);
  auto a = layer::group_norm<Groups>(x);
  auto b = layer::instance_norm(x, {.shift = false});
  auto c = layer::lrn(x, {.n = 4, .k = 2, .alpha = 0.2f});
  auto d = layer::group_norm<Groups>(x, {.scale = false, .epsilon = 0.1f});
  auto e = layer::instance_norm(x, {.scale = false, .shift = false, .epsilon = 0.1f});
  return std::tuple{layer::mean((a + b + c + d + e) * w), a, b, c, d, e};
});

}  // namespace

TEST_CASE("group_norm, instance_norm and lrn of other groups and sizes on the engine") {
  check_engine(alone<6, 3, 5, 2>);
  check_engine(alone<4, 4, 10, 4>);
}

// tracel-ai/burn#5607, pytorch/pytorch#61521
TEST_CASE("norms of groups: zeros, large numbers, means far from 0") {
  numbers w, x;
  for (int i = 0; i < 36; ++i) w.push_back(std::cos(i * 0.7));
  for (const double size : {0., 1e20, 1e-20, 1.}) {
    numbers one;
    for (int i = 0; i < 36; ++i) one.push_back(size * std::sin(1.3 * i));
    check_finite(lamina::law::check_edges(groups, {one, w}, 1, 1e-3));
  }
}
