// SPDX-License-Identifier: Apache-2.0
// Pooling of images on the compiled engine, against the executor.
#include <tuple>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::extent2;
using lamina::pooling_type;
using lamina::program;
using lamina::window;
using lamina::law::check_engine;

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
