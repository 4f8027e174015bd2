// SPDX-License-Identifier: Apache-2.0
// conv2d_transpose and conv3d on the compiled engine, against the executor.
#include <tuple>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::extent2;
using lamina::extent3;
using lamina::program;
using lamina::window;
using lamina::window3;
using lamina::law::check_engine;

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

}  // namespace

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
