// SPDX-License-Identifier: Apache-2.0
// Convolutions on the compiled engine: against the executor, over strides, paddings, dilations,
// groups and widths that are and are not whole vectors.
#include <algorithm>
#include <tuple>
#include <vector>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/engine/cpu/conv/conv_backward.hpp>
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

/// What filters of 3 by 3 make of small images forward and backward, some images at a time.
std::vector<float> filtered(int channels, int width, int filters, std::vector<int> parts) {
  namespace cpu = lamina::engine::cpu;
  lamina::engine::conv_shape s;
  s.large_channels = channels;
  s.small_channels = filters;
  s.side[1] = {4, 4, 3, 1, 1, 1};
  s.side[2] = {width, width, 3, 1, 1, 1};
  int samples = 0;
  for (const int n : parts) samples += n;
  const int large = lamina::padded(channels * 4 * width),
            small = lamina::padded(filters * 4 * width);
  const int taps = channels * 9;
  const auto numbers = [](int n) {
    lamina::engine::aligned_buffer b(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) b.data()[i] = static_cast<float>(i * 37 % 101) / 50.0F - 1;
    return b;
  };
  lamina::engine::aligned_buffer images = numbers(samples * large),
                                 filter = numbers(filters * taps);
  lamina::engine::aligned_buffer made = numbers(samples * small), back = numbers(samples * large);
  const cpu::conv_forward forward(s, &cpu::all_conv_methods);
  const cpu::conv_backward backward(s, &cpu::all_conv_methods);
  int first = 0;
  for (const int n : parts) {
    lamina::engine::aligned_buffer scratch(
        static_cast<std::size_t>(std::max(forward.scratch(n), backward.scratch(n))));
    forward.run(n, {images.data() + first * large, large}, filter.data(), taps, nullptr,
                {made.data() + first * small, small}, scratch.data());
    backward.run(n, {made.data() + first * small, small}, filter.data(), taps, nullptr,
                 {back.data() + first * large, large}, scratch.data());
    first += n;
  }
  std::vector<float> all(made.data(), made.data() + samples * small);
  all.insert(all.end(), back.data(), back.data() + samples * large);
  return all;
}

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

TEST_CASE("conv2d: one number a window") {
  check_engine(convolution<8, 6, 6, 10, 1>, few);
  check_engine(convolution<3, 5, 5, 17, 1>, few);
  check_engine(convolution<3, 7, 6, 4, 1, window{.stride = 2}>, few);
  check_engine(convolution<3, 4, 4, 4, 1, window{.padding = 1}>, few);
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

TEST_CASE("conv2d: filters of 3 by 3 and 5 by 5 in fewer products, and their error") {
  const lamina::law::engine_law_options exact{.tolerance = 5e-6, .batches = {1, 3}};
  check_engine(convolution<16, 8, 8, 16, 3, window{.padding = 1}>, exact);
  check_engine(convolution<17, 11, 13, 19, 3>, exact);
  check_engine(convolution<16, 7, 40, 13, 3, window{.padding = {2, 0}}>, exact);
  const lamina::law::engine_law_options near{.tolerance = 1e-5, .batches = {1, 3}};
  check_engine(convolution<12, 9, 8, 18, 5>, near);
  check_engine(convolution<12, 9, 8, 18, 5>, none);
  check_engine(convolution<14, 6, 5, 12, 5, window{.padding = {2, 3}}>, near);
}

TEST_CASE("conv2d: an image's result has the same bits whatever is computed with it") {
  for (const int width : {4, 9}) {
    const std::vector<float> together = filtered(14, width, 50, {7});
    for (int n = 1; n < 7; ++n) {
      CAPTURE(width, n);
      CHECK((filtered(14, width, 50, {n, 7 - n}) == together));
    }
  }
  // Few enough tiles an image, and so many images, that a last part of them would be short.
  CHECK((filtered(12, 4, 12, {2971}) == filtered(12, 4, 12, {2000, 971})));
}

TEST_CASE("conv2d: a group for each channel") {
  check_engine(convolution<16, 5, 8, 16, 3, window{.padding = 1, .groups = 16}>, few);
  check_engine(convolution<19, 7, 9, 38, 3, window{.padding = 1, .groups = 19}>, few);
  constexpr window far{.stride = {2, 3}, .padding = {3, 2}, .dilation = 2, .groups = 17};
  check_engine(convolution<17, 9, 11, 17, 5, far>, few);
  check_engine(convolution<17, 9, 11, 17, 5, far>, none);
}
