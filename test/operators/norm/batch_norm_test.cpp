// SPDX-License-Identifier: Apache-2.0
// batch_norm: values by hand, gradients, edge values, the engine.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "engine/edge_programs.hpp"
#include "executor/run_program.hpp"
#include "laws/edge_law.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/transform/clone_for_test.hpp>

namespace layer = lamina::layer;
using executed::values_of;
using lamina::block;
using lamina::program;
using lamina::law::check_engine;

namespace {

void check_close(const lamina::tensor& t, const std::vector<double>& expected) {
  const std::vector<double> found = values_of(t);
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK(found[i] == Approx(expected[i]).margin(1e-6));
}

// Weighted by fed numbers, so that gradients of normalised values do not vanish.
template <class Layer>
constexpr auto weighed(Layer) {
  return lamina::program([](block& main) {
    const auto y = Layer{}(main);
    auto w = layer::data<"w", float, 4, 3, 2>(main);
    return layer::mean(y * w);
  });
}

constexpr auto normal = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 2, 1, 2>(main);
  return layer::batch_norm(x, {.momentum = 0.75f,
                               .epsilon = 0.0f,
                               .param = {.initializer = lamina::init::array({2, 10})},
                               .bias_param = {.initializer = lamina::init::array({1, -1})},
                               .moving_mean_name = "mean",
                               .moving_variance_name = "variance"});
});

}  // namespace

TEST_CASE("batch_norm by hand: statistics of the batch, moving statistics, test mode") {
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(normal.view(), scope);
  check_close(scope.var("mean"), {0, 0});
  check_close(scope.var("variance"), {1, 1});
  // Channel 0: 1, 3, 5, 7, mean 4, variance 5. Channel 1: 0, 0, 2, 2, mean 1, variance 1.
  const lamina::tensor x(lamina::tensor_shape{2, 2, 1, 2},
                         std::vector<float>{1, 3, 0, 0, 5, 7, 2, 2});
  const double s = 2 / std::sqrt(5.0);
  const std::vector<double> expected = {1 - 3 * s, 1 - s, -11, -11, 1 + s, 1 + 3 * s, 9, 9};
  check_close(executor.run(normal.view(), scope, {{"x", x}})[0], expected);
  check_close(scope.var("mean"), {1, 0.25});
  check_close(scope.var("variance"), {0.75 + 0.25 * 5, 0.75 + 0.25});
  constexpr auto test = lamina::transform::clone_for_test(normal);
  const double t = 2 / std::sqrt(2.0);
  check_close(executor.run(test.view(), scope, {{"x", x}})[0],
              {1, 1 + 2 * t, -3.5, -3.5, 1 + 4 * t, 1 + 6 * t, 16.5, 16.5});
  check_close(scope.var("mean"), {1, 0.25});
}

TEST_CASE("batch_norm without rows: no results, and the statistics stay") {
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(normal.view(), scope);
  const lamina::tensor none = lamina::tensor::zeros(lamina::dtype::float32, {0, 2, 1, 2});
  constexpr auto test = lamina::transform::clone_for_test(normal);
  for (const lamina::program_view& p : {normal.view(), test.view()}) {
    CHECK(executor.run(p, scope, {{"x", none}})[0].shape() == lamina::tensor_shape{0, 2, 1, 2});
    check_close(scope.var("mean"), {0, 0});
    check_close(scope.var("variance"), {1, 1});
  }
}

TEST_CASE("gradients of batch_norm are difference quotients") {
  laws::gradient_options options;
  SECTION("statistics of the batch") {
    laws::check_gradients(weighed([](block& main) {
      auto x = layer::data<"x", float, 4, 3, 2>(main);
      return layer::batch_norm(x, {.act = lamina::activation::tanh});
    }));
  }
  SECTION("moving statistics") {
    options.low = 0.5;
    laws::check_gradients(weighed([](block& main) {
                            auto x = layer::data<"x", float, 4, 3, 2>(main);
                            return layer::batch_norm(x, {.use_global_stats = true});
                          }),
                          {}, options);
  }
  SECTION("one number a channel") {
    constexpr auto net = lamina::program([](block& main) {
      auto x = layer::data<"x", float, 5>(main);
      auto w = layer::data<"w", float, 5>(main);
      return layer::mean(layer::batch_norm(x) * w);
    });
    laws::check_gradients(net);
  }
}

namespace {

template <int C, int H, int W>
constexpr auto batches = program([](block& main) {
  // Data of other dimensions before the images.
  auto other = layer::data<"other", float, 7>(main);
  auto x = layer::data<"x", float, C, H, W>(main);
  auto w = layer::data<"w", float, C, H, W>(main);
  auto y = layer::batch_norm(x);
  auto z = layer::batch_norm(y, {.act = lamina::activation::relu, .use_global_stats = true});
  auto t = layer::batch_norm(x, {.is_test = true, .momentum = 0.5f, .epsilon = 0.1f});
  return std::tuple{layer::mean(y * w + z * z + t * w) + layer::mean(other), y, z, t};
});

}  // namespace

TEST_CASE("batch_norm on the engine") {
  // Positive, for moving variances are; the average of a batch depends on all of its rows.
  const lamina::law::engine_law_options o{.low = 0.2f, .rows_are_alone = false, .batches = {2, 17}};
  check_engine(batches<3, 4, 5>, o);
  check_engine(batches<2, 1, 40>, o);
  check_engine(batches<21, 1, 1>, o);
  // One number a channel.
  check_engine(batches<5, 1, 1>, {.low = 0.2f, .rows_are_alone = false, .batches = {1}});
}

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using lamina::law::check_finite;

using namespace test::edges;

constexpr auto passed_on = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto y = layer::batch_norm(x, {.epsilon = 0});
  return std::tuple{layer::mean(y), y};
});

}  // namespace

// pytorch/pytorch#162489
TEST_CASE("norms of channels: large numbers, slopes of large numbers, equal numbers") {
  numbers x, w;
  for (int i = 0; i < 108; ++i) w.push_back(std::cos(i * 0.7)), x.push_back(std::sin(1.3 * i * i));
  const auto of_ones = lamina::law::check_edges(channels, {x, w}, 3, 1e-3, 1e-6);
  for (const double size : {1e20, 1e37})
    for (const double offset : {0., 3.})
      for (const double slope : {1., 1e20}) {
        INFO(size << " and slopes of " << slope << ", offset " << offset);
        numbers of_x, of_w;
        for (const double v : x) of_x.push_back(size * (v + offset));
        for (const double v : w) of_w.push_back(slope * v);
        const auto all = lamina::law::check_edges(channels, {of_x, of_w}, 3, 1e-3);
        check_finite(all);
        for (const std::size_t y : {1u, 2u})
          for (std::size_t i = 0; i < x.size(); ++i)
            CHECK(all[y][i] == Approx(of_ones[y][i]).epsilon(1e-3).margin(1e-3));
      }
  check_finite(lamina::law::check_edges(passed_on, {numbers(12, 5.)}, 3));
}

TEST_CASE("0 times infinity: batch_norm of one number a channel") {
  const auto all = lamina::law::check_edges(passed_on, {{infinity, 1, -infinity, 0}}, 1);
  CHECK(all[1] == numbers{infinity, 1, -infinity, 0});
  CHECK(std::find(all.begin() + 2, all.end(), numbers(4, 0.25)) != all.end());
}
