// SPDX-License-Identifier: Apache-2.0
// Convolutions and pooling on the interpreter: values by hand, gradients by difference quotients.
#include "run_program.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>
#include <laws/recorded_pieces.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using executed::values_of;
using lamina::block;
using lamina::extent2;
using lamina::pooling_type;
using lamina::window;
using pieces::squares_of;

namespace {

lamina::tensor image(const lamina::tensor_shape& shape, const std::vector<float>& values) {
  return lamina::tensor(shape, values);
}

}  // namespace

TEST_CASE("conv2d by hand: one filter over an image, a bias, padding") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 1, 3, 3>(main);
    auto y = layer::conv2d<1, 2>(x, {.param = {.initializer = lamina::init::array({1, 2, 3, 4})},
                                     .bias_param = {.initializer = lamina::init::constant(10)}});
    auto z = layer::conv2d<1, 2, window{.stride = 2, .padding = 1}>(
        x, {.param = {.initializer = lamina::init::array({1, 2, 3, 4})}, .bias = false});
    return std::tuple{y, z};
  });
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(net.view(), scope);
  CHECK(scope.var("conv2d_0.w_0").shape() == lamina::tensor_shape{1, 1, 2, 2});
  CHECK(scope.var("conv2d_0.b_0").shape() == lamina::tensor_shape{1});
  const auto r =
      executor.run(net.view(), scope, {{"x", image({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})}});
  // 1*1 + 2*2 + 4*3 + 5*4 = 37 and so on.
  CHECK(values_of(r[0]) == std::vector<double>{47, 57, 77, 87});
  CHECK(r[1].shape() == lamina::tensor_shape{1, 1, 2, 2});
  CHECK(values_of(r[1]) == std::vector<double>{4, 18, 4 * 2 + 7 * 4, 77});
}

TEST_CASE("conv2d by hand: dilation, and groups that see their own channels alone") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 2, 3, 3>(main);
    auto far = layer::conv2d<1, 2, window{.dilation = 2}>(
        x,
        {.param = {.initializer = lamina::init::array({1, 2, 3, 4, 0, 0, 0, 1})}, .bias = false});
    auto each = layer::conv2d<4, 1, window{.groups = 2}>(
        x, {.param = {.initializer = lamina::init::array({1, 10, 2, 20})}, .bias = false});
    return std::tuple{far, layer::global_pool2d(each)};
  });
  CHECK(lamina::variable_name(net.view(), net.view().parameters[1].variable) ==
        "depthwise_conv2d_0.w_0");
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(net.view(), scope);
  const auto r = executor.run(
      net.view(), scope,
      {{"x", image({1, 2, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0, 0, 0, 0, 0, 5})}});
  CHECK(values_of(r[0]) == std::vector<double>{1 + 3 * 2 + 7 * 3 + 9 * 4 + 5});
  CHECK(values_of(r[1]) == std::vector<double>{9, 90, 10, 100});
}

TEST_CASE("first filters are drawn with the deviation that Fluid computes from all channels") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 8, 5, 5>(main);
    return layer::conv2d<64, extent2{5, 3}, window{.groups = 4}>(x);
  });
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(net.view(), scope, 3);
  const auto w = values_of(scope.var("conv2d_0.w_0"));
  REQUIRE(w.size() == 64 * 2 * 5 * 3);
  double square = 0;
  for (const double v : w) square += v * v;
  CHECK(square / static_cast<double>(w.size()) == Approx(2.0 / (5 * 3 * 8)).epsilon(0.1));
}

TEST_CASE("pool2d by hand: max, average with and without padding, ceil_mode, adaptive") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 1, 3, 3>(main);
    constexpr window half{.stride = 2, .padding = 1};
    constexpr window up{.stride = 2, .ceil_mode = true};
    auto most = layer::pool2d<2, half>(x);
    auto inside = layer::pool2d<2, half>(x, {.type = pooling_type::average});
    auto counted = layer::pool2d<2, half>(x, {.type = pooling_type::average, .exclusive = false});
    auto beyond = layer::pool2d<2, up>(x);
    auto shares = layer::pool2d<2, up>(x, {.type = pooling_type::average, .exclusive = false});
    auto adapted = layer::adaptive_pool2d<extent2{2, 1}>(x, {.type = pooling_type::average});
    auto all = layer::global_pool2d(x, {.type = pooling_type::average});
    return std::tuple{most, inside, counted, beyond, shares, adapted, all};
  });
  lamina::executor executor;
  lamina::scope scope;
  const auto r =
      executor.run(net.view(), scope, {{"x", image({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})}});
  CHECK(values_of(r[0]) == std::vector<double>{1, 3, 7, 9});
  CHECK(values_of(r[1]) == std::vector<double>{1, 2.5, 5.5, 7});
  CHECK(values_of(r[2]) == std::vector<double>{0.25, 1.25, 2.75, 7});
  CHECK(values_of(r[3]) == std::vector<double>{5, 6, 8, 9});
  CHECK(values_of(r[4]) == std::vector<double>{3, 2.25, 3.75, 2.25});
  CHECK(values_of(r[5]) == std::vector<double>{3.5, 6.5});
  CHECK(values_of(r[6]) == std::vector<double>{5});
}

TEST_CASE("gradients of conv2d are difference quotients") {
  laws::gradient_options options;
  options.rows = 2;
  const auto check = [&](auto net) { laws::check_gradients(net, {}, options); };
  SECTION("stride, padding, activation") {
    check(squares_of([](block& main) {
      auto x = layer::data<"x", float, 2, 5, 4>(main);
      return layer::conv2d<3, extent2{3, 2}, window{.stride = {2, 1}, .padding = {1, 2}}>(
          x, {.act = lamina::activation::tanh});
    }));
  }
  SECTION("dilation and groups") {
    check(squares_of([](block& main) {
      auto x = layer::data<"x", float, 4, 5, 5>(main);
      return layer::conv2d<2, 2, window{.padding = 1, .dilation = {2, 3}, .groups = 2}>(x);
    }));
  }
  SECTION("depthwise, two filters a channel") {
    check(squares_of([](block& main) {
      auto x = layer::data<"x", float, 3, 4, 4>(main);
      return layer::conv2d<6, 3, window{.stride = 2, .padding = 1, .groups = 3}>(x);
    }));
  }
}

TEST_CASE("gradients of pool2d are difference quotients") {
  laws::gradient_options options;
  options.rows = 2;
  const auto check = [&](auto net) { laws::check_gradients(net, {}, options); };
  SECTION("max, windows that overlap") {
    check(squares_of([](block& main) {
      auto x = layer::data<"x", float, 2, 5, 5>(main);
      return layer::pool2d<3, window{.stride = 2, .padding = 1, .ceil_mode = true}>(x);
    }));
  }
  SECTION("average") {
    check(squares_of([](block& main) {
      auto x = layer::data<"x", float, 2, 5, 4>(main);
      constexpr window w{.stride = 2, .padding = 1};
      auto a = layer::pool2d<3, w>(x, {.type = pooling_type::average});
      auto b = layer::pool2d<3, w>(x, {.type = pooling_type::average, .exclusive = false});
      return a * b;
    }));
  }
  SECTION("adaptive and global") {
    check(squares_of([](block& main) {
      auto x = layer::data<"x", float, 2, 5, 4>(main);
      auto a = layer::adaptive_pool2d<extent2{3, 3}>(x);
      auto b = layer::adaptive_pool2d<extent2{3, 3}>(x, {.type = pooling_type::average});
      auto c = layer::global_pool2d(x, {.type = pooling_type::average});
      return layer::elementwise_add<0>(a * b, layer::reshape<2>(c));
    }));
  }
}
