// SPDX-License-Identifier: Apache-2.0
// Residual blocks on the engine.
#include <tuple>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/transform/clone_for_test.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;

namespace {

// Where relu bends, float and double may differ; averages over a batch depend on all rows.
const lamina::law::engine_law_options together{
    .low = 0.1f, .tolerance = 1e-4, .rows_are_alone = false, .batches = {3}};

static_assert(vgg.parameter_count() == (27 * 4 + 4) + 4 * 4 + (36 * 5 + 5) + 4 * 5 + (45 * 6 + 6));

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

static_assert(tested::groups == 7 && count_heads<tested>(group_head::conv) == 3);

static_assert(count_heads<trained>(group_head::conv) == 2 &&
              count_heads<trained>(group_head::conv_dx) == 1 &&
              count_heads<trained>(group_head::pointwise) <= 3);

static_assert(bare_convolutions<lamina::plan<lamina::for_test<pooled_program>>>() == 2);

static_assert(bare_convolutions<lamina::plan<lamina::with_backward<pooled_program, false>>>() == 2);

}  // namespace

TEST_CASE("residual blocks") { lamina::law::check_engine(residual, together); }
