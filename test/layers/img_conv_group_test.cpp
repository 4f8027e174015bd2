// SPDX-License-Identifier: Apache-2.0
// Groups of convolutions on the engine.
#include <tuple>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/img_conv_group.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/transform/clone_for_test.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;
using lamina::window;

namespace {

// Where relu bends, float and double may differ; averages over a batch depend on all rows.
const lamina::law::engine_law_options together{
    .low = 0.1f, .tolerance = 1e-4, .rows_are_alone = false, .batches = {3}};

constexpr auto vgg = program([](block& main) {
  auto image = layer::data<"image", float, 3, 8, 8>(main);
  auto a = layer::img_conv_group<2, window{.stride = 2}, 4, 5>(
      image, {.act = lamina::activation::relu, .batch_norm = true});
  auto b =
      layer::img_conv_group<2, window{.stride = 2}, 6>(a, {.type = lamina::pooling_type::average});
  return std::tuple{layer::mean(b * b), b};
});

static_assert(vgg.parameter_count() == (27 * 4 + 4) + 4 * 4 + (36 * 5 + 5) + 4 * 5 + (45 * 6 + 6));

}  // namespace

TEST_CASE("a group of convolutions with batch_norm") { lamina::law::check_engine(vgg, together); }
