// SPDX-License-Identifier: Apache-2.0
// Convolutions of images and volumes: values by hand, gradients, the engine against the executor.
#include <tuple>

#include "executor/run_program.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>
#include <laws/recorded_pieces.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using executed::values_of;
using lamina::block;
using lamina::extent2;
using lamina::extent3;
using lamina::program;
using lamina::window;
using lamina::window3;
using lamina::law::check_engine;
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

namespace {

const lamina::law::engine_law_options few{.batches = {1, 3}};

template <int C, int H, int W, int Filters, extent2 Size, window Window, extent2 Output = 0>
constexpr auto spread = program([](block& main) {
  auto x = layer::data<"x", float, C, H, W>(main);
  auto y = layer::conv2d_transpose<Filters, Size, Window, Output>(x);
  return std::tuple{layer::mean(y * y), y};
});

template <int C, int D, int H, int W, int Filters, extent3 Size, window3 Window>
constexpr auto volume = program([](block& main) {
  auto x = layer::data<"x", float, C, D, H, W>(main);
  auto y = layer::conv3d<Filters, Size, Window>(x);
  return std::tuple{layer::mean(y * y), y};
});

template <int Size>
constexpr auto followed = program([](block& main) {
  auto x = layer::data<"x", float, 4, Size, Size>(main);
  auto a = layer::relu(layer::conv2d<5, 3, window{.padding = 1}>(x));
  auto b = layer::clip(layer::conv2d<20, 1>(a), 0, 0.5);
  auto c = layer::conv2d<37, 1>(b, {.act = lamina::activation::hard_swish});
  auto d = layer::conv2d<20, 1>(c, {.bias = false}) + b;
  auto e = layer::conv2d<6, 3, window{.stride = 2, .padding = 1, .groups = 2}>(d);
  return std::tuple{layer::mean(e * e), a, b, c, d};
});

}  // namespace

TEST_CASE("conv2d on the engine: bias, activation and sum of images of any size") {
  check_engine(followed<16>, few);  // small, whole vectors
  check_engine(followed<14>, few);
  check_engine(followed<7>, few);
  check_engine(followed<32>, few);  // tiles of whole vectors
}

TEST_CASE("conv2d_transpose on the engine") {
  check_engine(spread<3, 4, 8, 5, 3, window{.padding = 1}>, few);
  check_engine(spread<4, 3, 5, 6, extent2{2, 3}, window{.stride = 2}>, few);
  check_engine(spread<4, 4, 4, 2, 3, window{.stride = 2, .padding = 1, .groups = 2}, extent2{8, 7}>,
               few);
  check_engine(spread<2, 3, 3, 3, 2, window{.stride = 3, .dilation = 2}, extent2{11, 9}>, few);
}

TEST_CASE("conv3d on the engine") {
  check_engine(volume<2, 3, 4, 8, 5, 3, window3{.padding = 1}>, few);
  check_engine(volume<4, 3, 5, 6, 2, extent3{2, 3, 1},
                      window3{.stride = {1, 2, 1}, .padding = {1, 0, 0}, .groups = 2}>,
               few);
  check_engine(volume<2, 4, 5, 7, 3, 2, window3{.padding = {0, 1, 0}, .dilation = {1, 2, 3}}>, few);
}
