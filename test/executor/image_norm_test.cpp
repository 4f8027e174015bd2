// SPDX-License-Identifier: Apache-2.0
// batch_norm, group_norm, instance_norm and lrn on the interpreter: values by hand, moving
// statistics, gradients by difference quotients.
#include <cmath>

#include "run_program.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/transform/clone_for_test.hpp>

namespace layer = lamina::layer;
using executed::values_of;
using lamina::block;

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

TEST_CASE("gradients of group_norm, instance_norm and lrn are difference quotients") {
  laws::check_gradients(weighed(
      [](block& main) { return layer::group_norm<2>(layer::data<"x", float, 4, 3, 2>(main)); }));
  laws::check_gradients(weighed(
      [](block& main) { return layer::instance_norm(layer::data<"x", float, 4, 3, 2>(main)); }));
  laws::check_gradients(weighed([](block& main) {
    auto x = layer::data<"x", float, 4, 3, 2>(main);
    return layer::lrn(x, {.n = 4, .alpha = 0.3f}) +
           layer::group_norm<4>(x, {.scale = false, .shift = false});
  }));
}
