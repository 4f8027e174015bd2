// SPDX-License-Identifier: Apache-2.0
// Parts of images, products, sums and whole numbers at edge values compute on a device what they do
// on the CPU.
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "engine/cuda/edges/check_at_place.hpp"
#include <catch2/catch.hpp>

namespace cuda = lamina::engine::cuda;

namespace {

using namespace test::edges;

/// Images between whose elements numbers are interpolated.
constexpr auto resized = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 1, 3, 4>(main);
  auto w = layer::data<"w", float, 1, 5, 7>(main);
  using size = lamina::extent2;
  auto corners = layer::resize_bilinear<size{5, 7}>(image);
  auto centred =
      layer::resize_bilinear<size{5, 7}>(image, {.align_corners = false, .align_mode = 0});
  auto edges = layer::resize_bilinear<size{6, 8}>(image, {.align_corners = false, .align_mode = 1});
  auto small = layer::resize_bilinear<size{2, 1}>(image);
  auto near = layer::resize_nearest<size{5, 7}>(image);
  return std::tuple{
      layer::mean((corners + centred + near) * w) + layer::mean(edges) + layer::mean(small),
      corners,
      centred,
      edges,
      small,
      near};
});
/// Averages of regions of an image.
constexpr auto averaged = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4, 4, 4>(main);
  auto where = layer::sequence<"where", float, 4>(main);
  auto y = layer::roi_align<2>(x, where);
  auto z = layer::roi_align<2>(x, where, {.sampling_ratio = 1});
  auto s = layer::psroi_pool<2>(x, where);
  auto most = layer::roi_pool<2>(x, where);
  return std::tuple{layer::mean(y) + layer::mean(z) + layer::mean(s) + layer::mean(most), y, z, s,
                    most};
});
/// Products of many factors, running sums.
constexpr auto factors = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto w = layer::data<"w", float, 1>(main);
  auto row = layer::reduce_prod<1>(x, layer::keep_dim);
  auto column = layer::reduce_prod<0>(x, layer::keep_dim);
  return std::tuple{layer::mean(row * w) + layer::mean(column), row, column};
});
constexpr auto running = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 50000>(main);
  return std::tuple{layer::cumsum(x), layer::cumsum(x, {.exclusive = true, .reverse = true})};
});
/// Whole numbers beyond the range of their type.
constexpr auto wrapping = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", std::int64_t, 4>(main);
  auto y = layer::data<"y", std::int64_t, 4>(main);
  auto n = layer::cast<std::int32_t>(x);
  return std::tuple{layer::elementwise_add(x, y),
                    layer::elementwise_sub(x, y),
                    layer::elementwise_mul(x, y),
                    layer::sum({x, y, x}),
                    layer::cumsum(x),
                    layer::reduce_sum<1>(x),
                    layer::reduce_prod<1>(x),
                    layer::elementwise_add(n, n),
                    layer::elementwise_mul(n, n),
                    layer::cumsum(n)};
});
constexpr auto measured = lamina::program([](lamina::block& main) {
  auto p = layer::data<"p", float, 2>(main);
  return std::tuple{layer::auc(p, layer::data<"label", std::int64_t>(main))};
});

}  // namespace

TEST_CASE("0 times infinity: parts of 0 between elements of images on a device") {
  numbers w;
  for (int i = 0; i < 35; ++i) w.push_back(std::cos(i * 0.7));
  for (const double odd : {infinity, -infinity, none, 1e38})
    for (const std::size_t place : {0u, 5u, 11u}) {
      INFO(odd << " at " << place);
      numbers image(12, 0.25);
      image[place] = odd;
      check(resized, {image, w}, 1, {.tolerance = 1e-5, .margin = 1e-6});
      // Slopes, too, are infinite at some places, and 0 times them is 0.
      numbers slopes = w;
      slopes[3 * place + 1] = odd;
      check(resized, {numbers(12, 0.5), slopes}, 1, {.tolerance = 1e-5, .margin = 1e-6});
    }
}
TEST_CASE("0 times infinity: regions of images on a device, too long ones and nowhere") {
  const numbers where = joined({{0.5, 0.5, 2.5, 2.5},
                                {0, 0, 1e20, 1e20},
                                {none, 0, 2, 2},
                                {-infinity, 1, infinity, 3},
                                {1, 1, 3, 3},
                                {-1e20, -1e20, 3, 2}});
  for (const double odd : {0.5, infinity, none}) {
    INFO(odd);
    numbers x;
    for (int i = 0; i < 64; ++i) x.push_back(i % 16 == 6 ? odd : std::sin(i));
    check_teams(averaged, {x, where}, 1, {.tolerance = 1e-5, .margin = 1e-6, .lengths = {{6}}});
  }
  // A point that lies on an element does not meet its neighbours.
  numbers x(64, infinity);
  for (std::size_t i = 0; i < 64; ++i)
    if (i % 16 == 5 || i % 16 == 6 || i % 16 == 9 || i % 16 == 10) x[i] = 1;
  check_teams(averaged, {x, {0.5, 0.5, 2.5, 2.5}}, 1, {.lengths = {{1}}});
}
TEST_CASE("slopes of products beyond the range of float on a device") {
  check_teams(factors,
              {joined({{1e20, 1e20, 1e-30, 2, 1, 1},
                       {1e-30, 1e-30, 1e-30, 1, 2, 3},
                       {1e10, 1e10, 1e-30, 1e-30, 1, 0},
                       {0, 0, 1e30, 1e30, 1, 1},
                       {infinity, 1, 2, 3, 4, 5},
                       {infinity, 0, 1, 2, 3, 4},
                       {none, 0, 1, 2, 3, 4},
                       {-1e-20, -1e-20, -1e-5, 1, 1, 1}}),
               {1, 1, 1, 2, 1, 1, 1, -1}},
              8);
  check_teams(factors, {{1e20, 1e20, 1e-30, 2, 1, 1}, {1}}, 1);
  check(factors, {{}, {}}, 0);
}
// numpy/numpy#22956
TEST_CASE("running sums of many numbers keep their digits on a device") {
  check_teams(running, {numbers(50000, 100.1)}, 1, {.tolerance = 1e-7});
}
// pytorch/pytorch#190042
TEST_CASE("whole numbers wrap on a device as on the CPU") {
  const double most = 0x1p62;
  check_teams(wrapping,
              {{most, most, -most, -most, 0x7ffffff0, 3e9, 65536, -65536},
               {most, -most, most, -most, most, 5, 0x1p40, -7}},
              2);
}
TEST_CASE("predictions that are NaN are an error on a device, too") {
  for (const double odd : {none, infinity, -0.5})
    CHECK_THROWS_WITH(test::edges_apart<serial>(measured, {{0.5, 0.5, 0.5, odd}, {1, 0}}, 2),
                      Catch::Contains("prediction in row 1: expected 0 to 1"));
}
TEST_CASE("images and whole numbers without rows on a device") {
  check_teams(resized, {{}, {}}, 0);
  check_teams(wrapping, {{}, {}}, 0);
  check_teams(averaged, {{}, {}}, 0, {.lengths = {{}}});
  check_teams(averaged, {numbers(64, 1), {}}, 1, {.lengths = {{0}}});
  check_teams(running, {{}}, 0);
}
