// SPDX-License-Identifier: Apache-2.0
// pool3d, max_pool2d_with_index and unpool: values by hand, and the laws of all operators.
#include <tuple>

#include "executor/run_program.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using executed::values_of;
using lamina::block;
using lamina::extent3;
using lamina::program;
using lamina::window;
using lamina::window3;

namespace {

lamina::tensor counted(lamina::tensor_shape shape) {
  std::vector<float> v;
  for (std::size_t i = 0; i < lamina::size_of(shape); ++i) v.push_back(static_cast<float>(i));
  return lamina::tensor(shape, v);
}

}  // namespace

TEST_CASE("pool3d by hand: largest, averages with and without padding, whole and adaptive") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 1, 2, 2, 3>(main);
    return std::tuple{layer::pool3d<extent3{2, 2, 2}>(x),
                      layer::pool3d<2, window3{.stride = 2, .padding = 1}>(
                          x, {.type = lamina::pooling_type::average}),
                      layer::pool3d<2, window3{.stride = 2, .padding = 1}>(
                          x, {.type = lamina::pooling_type::average, .exclusive = false}),
                      layer::global_pool3d(x, {.type = lamina::pooling_type::average}),
                      layer::adaptive_pool3d<extent3{1, 1, 2}>(x),
                      layer::pool3d<2, window3{.stride = 2, .ceil_mode = true}>(x)};
  });
  lamina::executor executor;
  lamina::scope scope;
  const auto r = executor.run(net.view(), scope, {{"x", counted({1, 1, 2, 2, 3})}});
  CHECK(r[0].shape() == lamina::tensor_shape{1, 1, 1, 1, 2});
  CHECK(values_of(r[0]) == std::vector<double>{10, 11});
  CHECK(r[1].shape() == lamina::tensor_shape{1, 1, 2, 2, 2});
  CHECK(values_of(r[1]) == std::vector<double>{0, 1.5, 3, 4.5, 6, 7.5, 9, 10.5});
  CHECK(values_of(r[2]) == std::vector<double>{0, 0.375, 0.375, 1.125, 0.75, 1.875, 1.125, 2.625});
  CHECK(values_of(r[3]) == std::vector<double>{5.5});
  CHECK(values_of(r[4]) == std::vector<double>{10, 11});
  CHECK(values_of(r[5]) == std::vector<double>{10, 11});
}

TEST_CASE("max_pool2d_with_index and unpool by hand: there and back") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 1, 4, 4>(main);
    auto [y, places] = layer::max_pool2d_with_index<2, window{.stride = 2}>(x);
    return std::tuple{y, places, layer::unpool<2, window{.stride = 2}>(y, places)};
  });
  lamina::executor executor;
  lamina::scope scope;
  const lamina::tensor image(
      lamina::tensor_shape{1, 1, 4, 4},
      std::vector<float>{1, 9, 3, 3, 2, 4, 3, 1, -1, -2, 0, 5, -3, -4, 6, 7});
  const auto r = executor.run(net.view(), scope, {{"x", image}});
  CHECK(values_of(r[0]) == std::vector<double>{9, 3, -1, 7});
  CHECK(values_of(r[1]) == std::vector<double>{1, 2, 8, 15});
  CHECK(r[1].type() == lamina::dtype::int32);
  CHECK(values_of(r[2]) == std::vector<double>{0, 9, 3, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 7});
}

TEST_CASE("unpool refuses places outside of its result") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 1, 1, 1>(main);
    auto places = layer::data<"places", std::int32_t, 1, 1, 1>(main);
    return layer::unpool<2>(x, places);
  });
  lamina::executor executor;
  lamina::scope scope;
  const auto run = [&](std::int32_t place) {
    return executor.run(
        net.view(), scope,
        {{"x", counted({1, 1, 1, 1})},
         {"places", lamina::tensor({1, 1, 1, 1}, std::vector<std::int32_t>{place})}});
  };
  CHECK(values_of(run(3)[0]) == std::vector<double>{0, 0, 0, 0});
  CHECK_THROWS_WITH(run(4), Catch::Contains("layer unpool_0") && Catch::Contains("found 4"));
  CHECK_THROWS_WITH(run(-1), Catch::Contains("found -1"));
}

TEST_CASE("gradient: adaptive_pool3d, and windows of max_pool2d_with_index that overlap") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 2, 3, 4, 3>(main);
    auto c = layer::adaptive_pool3d<2>(x, {.type = lamina::pooling_type::average});
    return layer::mean(layer::square(c));
  }));
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 2, 4, 5>(main);
    auto [y, places] = layer::max_pool2d_with_index<3, window{.stride = {1, 2}, .padding = 1}>(x);
    auto z = layer::unpool<3, window{.stride = {1, 2}, .padding = 1}>(layer::square(y) + y, places);
    return layer::mean(layer::square(z)) + layer::mean(layer::square(y));
  }));
}

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

}  // namespace

TEST_CASE("pool3d of windows of unequal sides on the engine") {
  lamina::law::check_engine(volumes);
}
