// SPDX-License-Identifier: Apache-2.0
// Filters of 3 by 3 and 5 by 5 in fewer products, and their error.
#include <tuple>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cpu/conv/winograd.hpp>
#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::extent2;
using lamina::program;
using lamina::window;
using lamina::law::check_engine;

namespace {

const lamina::law::engine_law_options none{.rows_are_alone = false, .batches = {0}};

template <int C, int H, int W, int Filters, extent2 Size, window Window = window{}>
constexpr auto convolution = program([](block& main) {
  auto x = layer::data<"x", float, C, H, W>(main);
  auto y = layer::conv2d<Filters, Size, Window>(x);
  return std::tuple{layer::mean(y * y), y};
});

}  // namespace

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
