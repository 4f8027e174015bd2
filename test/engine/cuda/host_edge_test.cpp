// SPDX-License-Identifier: Apache-2.0
// Programs at edge values compute at a place what they do on the CPU.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "engine/cuda/edge_values.hpp"
#include "engine/cuda/host_backend.hpp"
#include <catch2/catch.hpp>

namespace cuda = lamina::engine::cuda;
namespace layer = lamina::layer;

namespace {

using serial = cuda::host_backend<1>;
using team = cuda::host_backend<4>;
using numbers = std::vector<double>;
constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

template <class P, class... Options>
void check(P program, const std::vector<numbers>& given, int rows, Options... options) {
  CHECK(test::edges_apart<serial>(program, given, rows, options...) == "");
}
template <class P, class... Options>
void check_teams(P program, const std::vector<numbers>& given, int rows, Options... options) {
  check(program, given, rows, options...);
  CHECK(test::edges_apart<team>(program, given, rows, options...) == "");
}

constexpr int width = 16;
/// Results whose gradients do not count.
constexpr auto chosen = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, width>(main);
  auto y = layer::data<"y", float, width>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto n = layer::cast<std::int64_t>(label);
  auto [best, places] = layer::topk<5>(x);
  auto image = layer::reshape<1, 4, 4>(x);
  return std::tuple{layer::elementwise_max(x, y),
                    layer::elementwise_min(x, y),
                    layer::reduce_max<1>(x),
                    layer::reduce_min<1>(x),
                    layer::reduce_max<0>(x),
                    layer::reduce_min<0>(x),
                    layer::argmax<1>(x),
                    layer::argmin<1>(x),
                    layer::argmax<0>(x),
                    layer::argmax<0>(n),
                    layer::clip(x, -1, 1),
                    layer::relu(x),
                    layer::relu6(x),
                    layer::elu(x),
                    layer::hard_shrink(x),
                    layer::softshrink(x),
                    layer::thresholded_relu(x),
                    layer::sign(x),
                    best,
                    places,
                    layer::accuracy(x, label),
                    layer::accuracy<3>(x, label),
                    layer::pool2d<2, lamina::window{.stride = 2}>(image),
                    layer::pool2d<3, lamina::window{.stride = 1, .padding = 1}>(image),
                    layer::maxout<4>(layer::reshape<4, 2, 2>(x))};
});

/// Costs through which the first of equal ones, or NaN, gets a gradient.
constexpr auto choices = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, width>(main);
  auto y = layer::data<"y", float, width>(main);
  auto w = layer::data<"w", float, width>(main);
  auto image = layer::reshape<1, 4, 4>(x);
  auto volume = layer::reshape<1, 2, 2, 4>(x);
  auto of_rows =
      layer::reduce_max<1>(x, layer::keep_dim) + layer::reduce_min<1>(x, layer::keep_dim);
  auto all =
      layer::elementwise_max(x, y) * w + layer::elementwise_min(x, y) + of_rows +
      layer::reshape<width>(layer::pool2d<3, lamina::window{.stride = 1, .padding = 1}>(image)) * w;
  auto few = layer::reshape<4>(layer::pool2d<2, lamina::window{.stride = 2}>(image)) +
             layer::reshape<4>(layer::maxout<4>(layer::reshape<4, 2, 2>(x)));
  auto deep = layer::reshape<2>(layer::pool3d<2, lamina::window3{.stride = 2}>(volume));
  auto pyramid = layer::spp<2>(image);
  return std::tuple{layer::mean(all) + layer::mean(few) + layer::mean(deep) + layer::mean(pyramid),
                    all, few, deep, pyramid};
});
constexpr auto of_sequences = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  return layer::mean(layer::sequence_pool(x, {.type = lamina::pool::max}));
});

}  // namespace

// ml-explore/mlx#4274, tensorflow/tensorflow#125965, pytorch/pytorch#25016
TEST_CASE("NaN is chosen before every number at a place, too") {
  for (const double rest : {-3., 0., infinity, -infinity, none})
    for (const int place : {0, 5, width - 1}) {
      INFO(rest << " at " << place);
      numbers x(2 * width, rest), y(2 * width, rest), w;
      x[static_cast<std::size_t>(place)] = none;
      x[width + 3] = 7;
      for (int i = 0; i < 2 * width; ++i) w.push_back(1 + i);
      const numbers label{static_cast<double>(place), 3};
      check_teams(chosen, {x, y, label}, 2);
      check(chosen, {y, x, label}, 2);
      check_teams(choices, {x, y, w}, 2);
    }
}
TEST_CASE("the first of equal ones has the gradient of an extreme at a place, too") {
  numbers x, y, w;
  for (int i = 0; i < 3 * width; ++i) x.push_back(i * i % 3), y.push_back(i % 2), w.push_back(i);
  check_teams(choices, {x, y, w}, 3);
}
