// SPDX-License-Identifier: Apache-2.0
// batch_norm, group_norm, instance_norm and lrn on the compiled engine, against the executor.
#include <tuple>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;
using lamina::law::check_engine;

namespace {

template <int C, int H, int W>
constexpr auto batches = program([](block& main) {
  // Data of other dimensions before the images.
  auto other = layer::data<"other", float, 7>(main);
  auto x = layer::data<"x", float, C, H, W>(main);
  auto w = layer::data<"w", float, C, H, W>(main);
  auto y = layer::batch_norm(x);
  auto z = layer::batch_norm(y, {.act = lamina::activation::relu, .use_global_stats = true});
  auto t = layer::batch_norm(x, {.is_test = true, .momentum = 0.5f, .epsilon = 0.1f});
  return std::tuple{layer::mean(y * w + z * z + t * w) + layer::mean(other), y, z, t};
});

template <int C, int H, int W, int Groups>
constexpr auto alone = program([](block& main) {
  auto x = layer::data<"x", float, C, H, W>(main);
  auto w = layer::data<"w", float, C, H, W>(main);
  auto a = layer::group_norm<Groups>(x);
  auto b = layer::instance_norm(x, {.shift = false});
  auto c = layer::lrn(x, {.n = 4, .k = 2, .alpha = 0.2f});
  auto d = layer::group_norm<Groups>(x, {.scale = false, .epsilon = 0.1f});
  auto e = layer::instance_norm(x, {.scale = false, .shift = false, .epsilon = 0.1f});
  return std::tuple{layer::mean((a + b + c + d + e) * w), a, b, c, d, e};
});

}  // namespace

TEST_CASE("batch_norm on the engine") {
  // Positive, for moving variances are; the average of a batch depends on all of its rows.
  const lamina::law::engine_law_options o{.low = 0.2f, .rows_are_alone = false, .batches = {2, 17}};
  check_engine(batches<3, 4, 5>, o);
  check_engine(batches<2, 1, 40>, o);
  check_engine(batches<21, 1, 1>, o);
  // One number a channel.
  check_engine(batches<5, 1, 1>, {.low = 0.2f, .rows_are_alone = false, .batches = {1}});
}

TEST_CASE("group_norm, instance_norm and lrn on the engine") {
  check_engine(alone<6, 3, 5, 2>);
  check_engine(alone<4, 4, 10, 4>);
}
