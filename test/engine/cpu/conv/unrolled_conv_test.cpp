// SPDX-License-Identifier: Apache-2.0
// Convolutions whose result has one element per filter.
#include <tuple>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cpu/conv/unrolled_conv.hpp>
#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::extent2;
using lamina::program;
using lamina::window;
using lamina::law::check_engine;

namespace {

const lamina::law::engine_law_options few{.batches = {1, 3}};

template <int C, int H, int W, int Filters, extent2 Size, window Window = window{}>
constexpr auto convolution = program([](block& main) {
  auto x = layer::data<"x", float, C, H, W>(main);
  auto y = layer::conv2d<Filters, Size, Window>(x);
  return std::tuple{layer::mean(y * y), y};
});

}  // namespace

TEST_CASE("conv2d: one number a window") {
  check_engine(convolution<8, 6, 6, 10, 1>, few);
  check_engine(convolution<3, 5, 5, 17, 1>, few);
  check_engine(convolution<3, 7, 6, 4, 1, window{.stride = 2}>, few);
  check_engine(convolution<3, 4, 4, 4, 1, window{.padding = 1}>, few);
}
