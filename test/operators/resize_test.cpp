// SPDX-License-Identifier: Apache-2.0
// Images of another size: values by hand, and the laws of all operators.
#include <tuple>

#include "executor/run_program.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using executed::values_of;
using lamina::block;
using lamina::extent2;
using lamina::program;

TEST_CASE("resize and pad2d by hand") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 1, 1, 4>(main);
    constexpr extent2 seven{1, 7}, eight{1, 8}, two{1, 2};
    return std::tuple{layer::resize_bilinear<seven>(x),
                      layer::resize_bilinear<eight>(x, {.align_corners = false}),
                      layer::resize_bilinear<two>(x, {.align_corners = false, .align_mode = 0}),
                      layer::resize_nearest<two>(x),
                      layer::resize_nearest<two>(x, {.align_corners = false}),
                      layer::pad2d<0, 1, 2, 1>(x, {.value = 7}),
                      layer::pad2d<0, 0, 3, 2, lamina::pad_mode::reflect>(x)};
  });
  lamina::executor executor;
  lamina::scope scope;
  const lamina::tensor x(lamina::tensor_shape{1, 1, 1, 4}, std::vector<float>{0, 2, 6, 8});
  const auto r = executor.run(net.view(), scope, {{"x", x}});
  CHECK(values_of(r[0]) == std::vector<double>{0, 1, 2, 4, 6, 7, 8});
  CHECK(values_of(r[1]) == std::vector<double>{0, 1, 2, 4, 6, 7, 8, 8});
  CHECK(values_of(r[2]) == std::vector<double>{1, 7});
  CHECK(values_of(r[3]) == std::vector<double>{0, 8});
  CHECK(values_of(r[4]) == std::vector<double>{0, 6});
  CHECK(values_of(r[5]) == std::vector<double>{7, 7, 0, 2, 6, 8, 7, 7, 7, 7, 7, 7, 7, 7});
  CHECK(values_of(r[6]) == std::vector<double>{8, 6, 2, 0, 2, 6, 8, 6, 2});
}

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

}  // namespace

TEST_CASE("interpolation down to few elements, and of long rows, on the engine") {
  lamina::law::check_engine(resized<9, 20, extent2{4, 7}>);
  lamina::law::check_engine(resized<3, 3, extent2{1, 3}>);
}
