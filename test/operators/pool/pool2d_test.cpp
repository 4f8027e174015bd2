// SPDX-License-Identifier: Apache-2.0
// pool2d: values by hand, gradients, the engine against the executor.
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
using lamina::pooling_type;
using lamina::program;
using lamina::window;
using lamina::law::check_engine;
using pieces::squares_of;

namespace {

lamina::tensor image(const lamina::tensor_shape& shape, const std::vector<float>& values) {
  return lamina::tensor(shape, values);
}

}  // namespace

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

namespace {

template <int H, int W, extent2 Size, window Window>
constexpr auto windows = program([](block& main) {
  auto x = layer::data<"x", float, 3, H, W>(main);
  auto a = layer::pool2d<Size, Window>(x);
  auto b = layer::pool2d<Size, Window>(x, {.type = pooling_type::average});
  auto c = layer::pool2d<Size, Window>(x, {.type = pooling_type::average, .exclusive = false});
  return std::tuple{layer::mean(a * a) + layer::mean(b * b) + layer::mean(c * c), a, b, c};
});

template <int H, int W>
constexpr auto parts = program([](block& main) {
  auto x = layer::data<"x", float, 2, H, W>(main);
  auto a = layer::adaptive_pool2d<extent2{3, 2}>(x);
  auto b = layer::adaptive_pool2d<extent2{3, 2}>(x, {.type = pooling_type::average});
  auto c = layer::global_pool2d(x);
  auto d = layer::global_pool2d(x, {.type = pooling_type::average});
  return std::tuple{
      layer::mean(a * a) + layer::mean(b * b) + layer::mean(c * c) + layer::mean(d * d), a, b, c,
      d};
});

}  // namespace

TEST_CASE("pool2d on the engine") {
  check_engine(windows<8, 24, 2, window{.stride = 2}>);
  check_engine(windows<9, 19, 2, window{.stride = 2}>);
  check_engine(windows<6, 40, 2, window{.stride = 2}>);
  check_engine(windows<5, 35, 2, window{.stride = 2}>);
  // Rows shorter than a vector, and of half of one.
  check_engine(windows<7, 8, 2, window{.stride = 2}>);
  check_engine(windows<7, 16, 2, window{.stride = 2}>);
  check_engine(windows<4, 11, 2, window{.stride = 2}>);
  check_engine(windows<7, 4, 2, window{.stride = 2}>);
  check_engine(windows<5, 3, 2, window{.stride = 2}>);
  check_engine(windows<7, 18, 3, window{.stride = 2, .padding = 1}>);
  check_engine(windows<8, 20, extent2{2, 3}, window{.stride = {3, 2}, .padding = {1, 0}}>);
  check_engine(windows<8, 9, 3, window{.stride = 2, .ceil_mode = true}>);
  check_engine(windows<5, 5, 3, window{}>);
  check_engine(windows<5, 5, 1, window{.stride = 2}>);
}

TEST_CASE("adaptive and global pooling on the engine") {
  check_engine(parts<6, 4>);
  check_engine(parts<7, 17>);
  check_engine(parts<2, 1>);
}

namespace {

template <int W, extent2 Size, window Window>
constexpr auto equals = program([](block& main) {
  auto x = layer::data<"x", float, 2, 6, W>(main);
  auto y = layer::pool2d<Size, Window>(x);
  return std::tuple{layer::mean(y * y), y};
});

}  // namespace

TEST_CASE("of equal elements of a window the first one gets the gradient") {
  const lamina::law::engine_law_options same{.low = 0.5f, .high = 0.5f};
  check_engine(equals<36, 3, window{}>, same);
  check_engine(equals<36, 2, window{.stride = 2}>, same);
  check_engine(equals<24, 2, window{.stride = 2}>, same);
  check_engine(equals<8, 2, window{.stride = 2}>, same);
}
