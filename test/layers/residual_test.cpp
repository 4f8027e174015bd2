// SPDX-License-Identifier: Apache-2.0
// Residual blocks on the engine.
#include <tuple>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/layers/residual.hpp>
#include <lamina/transform/clone_for_test.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;

namespace {

// Where relu bends, float and double may differ; averages over a batch depend on all rows.
const lamina::law::engine_law_options together{
    .low = 0.1f, .tolerance = 1e-4, .rows_are_alone = false, .batches = {3}};

constexpr auto residual = program([](block& main) {
  auto image = layer::data<"image", float, 3, 8, 8>(main);
  auto a = layer::basic_block<4>(image);
  auto b = layer::basic_block<4>(a);
  auto c = layer::bottleneck_block<2, 2>(b);
  auto d = layer::global_pool2d(c, {.type = lamina::pooling_type::average});
  return std::tuple{layer::mean(d * d), d};
});

static_assert(residual.parameter_count() == (27 * 4 + 36 * 4 + 3 * 4 + 3 * 16) +
                                                (36 * 4 * 2 + 2 * 16) +
                                                (8 + 36 + 16 + 32 + 2 * 8 + 2 * 32));

}  // namespace

TEST_CASE("residual blocks") { lamina::law::check_engine(residual, together); }
