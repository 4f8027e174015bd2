// SPDX-License-Identifier: Apache-2.0
// conv2d_transpose and conv3d on the interpreter: values by hand, gradients by difference
// quotients.
#include "run_program.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>
#include <laws/recorded_pieces.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using executed::values_of;
using lamina::block;
using lamina::extent2;
using lamina::extent3;
using lamina::window;
using lamina::window3;
using pieces::squares_of;

TEST_CASE("conv2d_transpose by hand: places that overlap, stride, output size") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 1, 1, 2>(main);
    auto y = layer::conv2d_transpose<1, 2>(
        x, {.param = {.initializer = lamina::init::array({1, 2, 3, 4})},
            .bias_param = {.initializer = lamina::init::constant(100)}});
    auto z = layer::conv2d_transpose<1, 2, window{.stride = 2}, extent2{3, 5}>(
        x, {.param = {.initializer = lamina::init::array({1, 2, 3, 4})}, .bias = false});
    return std::tuple{y, z};
  });
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(net.view(), scope);
  CHECK(scope.var("conv2d_transpose_0.w_0").shape() == lamina::tensor_shape{1, 1, 2, 2});
  const lamina::tensor x(lamina::tensor_shape{1, 1, 1, 2}, std::vector<float>{1, 10});
  const auto r = executor.run(net.view(), scope, {{"x", x}});
  CHECK(values_of(r[0]) == std::vector<double>{101, 112, 120, 103, 134, 140});
  CHECK(values_of(r[1]) == std::vector<double>{1, 2, 10, 20, 0, 3, 4, 30, 40, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("conv3d by hand: the sum of a cube") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 1, 2, 2, 3>(main);
    return layer::conv3d<1, 2>(
        x,
        {.param = {.initializer = lamina::init::array({1, 1, 1, 1, 2, 2, 2, 2})}, .bias = false});
  });
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(net.view(), scope);
  CHECK(scope.var("conv3d_0.w_0").shape() == lamina::tensor_shape{1, 1, 2, 2, 2});
  const lamina::tensor x(lamina::tensor_shape{1, 1, 2, 2, 3},
                         std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  CHECK(values_of(executor.run(net.view(), scope, {{"x", x}})[0]) ==
        std::vector<double>{12 + 2 * 36, 16 + 2 * 40});
}

TEST_CASE("gradients of conv2d_transpose and conv3d are difference quotients") {
  laws::gradient_options options;
  options.rows = 2;
  laws::check_gradients(
      squares_of([](block& main) {
        auto x = layer::data<"x", float, 4, 3, 2>(main);
        constexpr window w{.stride = {2, 1}, .padding = 1, .dilation = {1, 2}, .groups = 2};
        return layer::conv2d_transpose<2, extent2{3, 2}, w, extent2{6, 2}>(x);
      }),
      {}, options);
  laws::check_gradients(
      squares_of([](block& main) {
        auto x = layer::data<"x", float, 2, 3, 3, 4>(main);
        constexpr window3 w{.stride = {1, 2, 1}, .padding = {1, 0, 1}, .groups = 2};
        return layer::conv3d<2, extent3{2, 1, 3}, w>(x);
      }),
      {}, options);
}
