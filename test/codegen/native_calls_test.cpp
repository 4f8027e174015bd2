// SPDX-License-Identifier: Apache-2.0
// Windows, sizes and options in the calls of layers, with defaults left out.
#include <catch2/catch.hpp>
#include <codegen/same_program.hpp>

#include <lamina/codegen/native_source.hpp>
#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using Catch::Contains;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2, 9, 9>(main);
  auto average = lamina::pooling_type::average;
  auto a = layer::pool2d<3, lamina::window{.stride = 2, .padding = {1, 0}, .ceil_mode = true}>(
      x, {.type = average, .exclusive = false});
  auto b = layer::adaptive_pool2d<lamina::extent2{2, 3}>(x);
  auto c = layer::conv2d<4, 3, lamina::window{.dilation = 2}>(x, {.bias = false});
  auto row = layer::reshape<4, 25>(c);
  auto d = layer::reduce_sum<2>(row);
  auto e = layer::matmul<layer::matmul_form{.transpose_y = true}>(row, row, {.alpha = 0.5f});
  auto f = layer::softmax<1>(layer::transpose<0, 2, 1>(row));
  return std::tuple{a, b, d, e, f, layer::elementwise_sub<0>(row, d), layer::reduce_max(row)};
});

}  // namespace

TEST_CASE("native calls: template arguments and options are those of the file, but defaults") {
  const std::string text =
      lamina::native_source(lamina::loaded_program(same_program::as_saved(net.view())));
  for (const char* call :
       {"lamina::window{.stride = 2, .padding = {1, 0}, .ceil_mode = true}>(x,",
        "{.type = lamina::pooling_type::average, .exclusive = false});",
        "layer::adaptive_pool2d<lamina::extent2{2, 3}>(x);",
        "layer::conv2d<4, 3, lamina::window{.dilation = 2}>(x, {.bias = false});",
        "layer::reshape<4, 25>(conv2d_0);", "layer::reduce_sum<2>(reshape2_0);",
        "layer::matmul<layer::matmul_form{.transpose_y = true}>(reshape2_0, reshape2_0,",
        "{.alpha = 0.5f});", "layer::transpose<0, 2, 1>(reshape2_0);",
        "layer::softmax<1>(transpose2_0);", "layer::elementwise_sub<0>(reshape2_0, reduce_sum_0);",
        "layer::reduce_max(reshape2_0);"})
    CHECK_THAT(text, Contains(call));
}
