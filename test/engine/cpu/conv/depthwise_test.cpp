// SPDX-License-Identifier: Apache-2.0
// Convolutions with a group per channel.
#include <tuple>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cpu/conv/conv_backward.hpp>
#include <lamina/engine/cpu/conv/depthwise.hpp>
#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::extent2;
using lamina::program;
using lamina::window;
using lamina::law::check_engine;

namespace {

const lamina::law::engine_law_options few{.batches = {1, 3}};

const lamina::law::engine_law_options none{.rows_are_alone = false, .batches = {0}};

template <int C, int H, int W, int Filters, extent2 Size, window Window = window{}>
constexpr auto convolution = program([](block& main) {
  auto x = layer::data<"x", float, C, H, W>(main);
  auto y = layer::conv2d<Filters, Size, Window>(x);
  return std::tuple{layer::mean(y * y), y};
});

}  // namespace

TEST_CASE("conv2d: a group for each channel") {
  check_engine(convolution<16, 5, 8, 16, 3, window{.padding = 1, .groups = 16}>, few);
  check_engine(convolution<19, 7, 9, 38, 3, window{.padding = 1, .groups = 19}>, few);
  constexpr window far{.stride = {2, 3}, .padding = {3, 2}, .dilation = 2, .groups = 17};
  check_engine(convolution<17, 9, 11, 17, 5, far>, few);
  check_engine(convolution<17, 9, 11, 17, 5, far>, none);
}
