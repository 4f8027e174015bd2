// SPDX-License-Identifier: Apache-2.0
// pool3d, max_pool2d_with_index and unpool on the compiled engine, against the executor.
#include <tuple>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::extent3;
using lamina::program;
using lamina::window;
using lamina::window3;

namespace {

constexpr auto volumes = program([](block& main) {
  auto x = layer::data<"x", float, 2, 5, 4, 7>(main);
  auto a = layer::pool3d<extent3{2, 3, 2}, window3{.stride = {1, 2, 3}, .padding = {1, 1, 0}}>(x);
  auto b = layer::pool3d<extent3{2, 3, 2}, window3{.stride = {1, 2, 3}, .padding = {1, 1, 0}}>(
      x, {.type = lamina::pooling_type::average, .exclusive = false});
  auto c = layer::pool3d<2, window3{.stride = 2, .ceil_mode = true}>(
      x, {.type = lamina::pooling_type::average});
  auto d = layer::global_pool3d(x);
  auto e = layer::adaptive_pool3d<extent3{2, 3, 4}>(x);
  return std::tuple{
      layer::mean(a * b) + layer::mean(c * c) + layer::mean(d * d) + layer::mean(e * e),
      a,
      b,
      c,
      d,
      e};
});
constexpr auto there_and_back = program([](block& main) {
  auto x = layer::data<"x", float, 3, 7, 9>(main);
  auto [y, places] = layer::max_pool2d_with_index<3, window{.stride = 2, .padding = 1}>(x);
  auto z = layer::unpool<3, window{.stride = 2, .padding = 1}>(y * y, places);
  return std::tuple{layer::mean(z * z) + layer::mean(y), y, places, z};
});

}  // namespace

TEST_CASE("pool3d on the engine") { lamina::law::check_engine(volumes); }

TEST_CASE("max_pool2d_with_index and unpool on the engine") {
  lamina::law::check_engine(there_and_back);
}
