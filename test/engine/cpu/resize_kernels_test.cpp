// SPDX-License-Identifier: Apache-2.0
// Images of another size on the compiled engine, against the executor.
#include <tuple>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::extent2;
using lamina::program;

namespace {

template <int H, int W, extent2 Size>
constexpr auto resized = program([](block& main) {
  auto x = layer::data<"x", float, 3, H, W>(main);
  auto a = layer::resize_bilinear<Size>(x);
  auto b = layer::resize_bilinear<Size>(x, {.align_corners = false});
  auto c = layer::resize_bilinear<Size>(x, {.align_corners = false, .align_mode = 0});
  auto d = layer::resize_nearest<Size>(x);
  auto e = layer::resize_nearest<Size>(x, {.align_corners = false});
  return std::tuple{layer::mean(a * a + b * b + c * c + d * e), a, b, c, d, e};
});

constexpr auto padded = program([](block& main) {
  auto x = layer::data<"x", float, 3, 4, 5>(main);
  auto a = layer::pad2d<1, 2, 3, 4>(x, {.value = 0.5f});
  auto b = layer::pad2d<1, 2, 3, 4, lamina::pad_mode::reflect>(x);
  auto c = layer::pad2d<1, 2, 3, 4, lamina::pad_mode::edge>(x);
  return std::tuple{layer::mean(a * b + c * c), a, b, c};
});

}  // namespace

TEST_CASE("interpolation on the engine") {
  lamina::law::check_engine(resized<4, 5, extent2{9, 13}>);
  lamina::law::check_engine(resized<9, 20, extent2{4, 7}>);
  lamina::law::check_engine(resized<3, 3, extent2{1, 3}>);
}

TEST_CASE("pad2d on the engine") { lamina::law::check_engine(padded); }
