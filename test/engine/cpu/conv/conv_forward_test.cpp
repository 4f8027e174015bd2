// SPDX-License-Identifier: Apache-2.0
// Convolutions of all sizes, strides, dilations and groups.
#include <tuple>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cpu/conv/conv_backward.hpp>
#include <lamina/engine/cpu/conv/conv_forward.hpp>
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

TEST_CASE("conv2d: rows of windows that are whole vectors") {
  check_engine(convolution<1, 20, 20, 7, 5>, few);
  check_engine(convolution<3, 18, 18, 20, 3>, few);
  check_engine(convolution<2, 10, 10, 5, 3>, few);
  check_engine(convolution<5, 8, 16, 13, 3, window{.padding = 1}>, few);
}

TEST_CASE("conv2d: rows of any width") {
  check_engine(convolution<3, 7, 9, 4, 3>, few);
  check_engine(convolution<2, 12, 31, 9, extent2{3, 2}, window{.padding = {2, 1}}>, few);
  check_engine(convolution<4, 5, 5, 6, 5>, few);
  check_engine(convolution<2, 3, 40, 3, extent2{1, 7}>, few);
}

TEST_CASE("conv2d: strides and dilations") {
  check_engine(convolution<3, 11, 10, 5, 3, window{.stride = 2, .padding = 1}>, few);
  check_engine(convolution<2, 32, 32, 4, 3, window{.stride = 2, .padding = 1}>, few);
  check_engine(convolution<2, 9, 12, 3, extent2{2, 3}, window{.stride = {3, 2}}>, few);
  check_engine(convolution<2, 10, 9, 3, 3, window{.padding = 2, .dilation = 2}>, few);
  check_engine(convolution<2, 11, 13, 3, 3, window{.stride = 2, .dilation = {3, 2}}>, few);
  check_engine(convolution<2, 8, 8, 3, 2, window{.stride = 4}>, few);
  check_engine(convolution<1, 3, 3, 2, 2, window{.stride = 5, .padding = 3}>, few);
}

TEST_CASE("conv2d: groups") {
  check_engine(convolution<4, 6, 8, 6, 3, window{.padding = 1, .groups = 2}>, few);
  check_engine(convolution<5, 9, 9, 5, 3, window{.padding = 1, .groups = 5}>, few);
  check_engine(convolution<3, 8, 8, 12, 3, window{.stride = 2, .padding = 1, .groups = 3}>, few);
}

TEST_CASE("conv2d: padding wider than the filter, long sums, many filters") {
  check_engine(convolution<1, 4, 4, 2, 2, window{.padding = 4}>, few);
  check_engine(convolution<40, 6, 6, 3, 5, window{.padding = 2}>,
               {.low = -0.3f, .high = 0.3f, .batches = {3}});
  check_engine(convolution<3, 6, 16, 70, 3>, {.batches = {2}});
}

TEST_CASE("conv2d: few windows, whose filters are read where they are") {
  check_engine(convolution<20, 7, 7, 30, 1>, few);
  check_engine(convolution<6, 5, 5, 8, 3, window{.stride = 2, .groups = 2}>, few);
  // The addresses of the filters of a tile differ by the size of a cache way.
  check_engine(convolution<1024, 2, 3, 15, 1>, few);
}

TEST_CASE("conv2d: transformed filters that exceed filter_memory") {
  // Inference takes the general algorithm, training takes Winograd's.
  check_engine(convolution<520, 4, 4, 460, 3, window{.padding = 1}>,
               {.low = -0.3f, .high = 0.3f, .batches = {3}});
}
