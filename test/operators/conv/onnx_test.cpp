// SPDX-License-Identifier: Apache-2.0
// onnx: transposed convolutions of one to three sides, also of sides that are known at run time
// only. The results of the onnx package's models are in test/interop.
#include <cstdint>
#include <string>
#include <vector>

#include "io/onnx/model_runs.hpp"
#include <catch2/catch.hpp>

using Catch::Contains;
using namespace model_runs;

namespace {

struct shape_and_numbers {
  tensor_shape shape;
  std::vector<float> numbers;
};

/// The transposed convolution of 1, 2, ... with the filter 1, 10, 100, ... along the last side.
/// `rank` dimensions, of which those before the last side have one element.
shape_and_numbers transposed(std::size_t rank, std::size_t size, std::size_t taps,
                             const lamina::onnx_attributes& attributes, bool unknown) {
  tensor_shape of_x(rank, 1), of_w(rank, 1);
  of_x.back() = size;
  of_w.back() = taps;
  std::vector<float> x, w;
  for (std::size_t i = 0; i < size; ++i) x.push_back(static_cast<float>(i + 1));
  float power = 1;
  for (std::size_t i = 0; i < taps; ++i, power *= 10) w.push_back(power);
  const tensor filter = floats(of_w, w);
  std::vector<std::int64_t> dims(of_x.begin(), of_x.end());
  if (unknown) dims.back() = -1;
  model m({value("x", dims)}, {any("y")});
  m.graph.initializers = {{"w", &filter}};
  m.node("ConvTranspose", {"x", "w"}, {"y"}, attributes);
  const auto y = m.run({{"x", floats(of_x, x)}})[0];
  return {y.shape(), numbers(y)};
}

}  // namespace

TEST_CASE("onnx: transposed convolutions with strides and paddings") {
  using list = std::vector<std::int64_t>;
  for (const std::size_t rank : {3U, 4U, 5U})
    for (const bool unknown : {false, true}) {
      if (rank == 5 && unknown) continue;
      const std::size_t sides = rank - 2;
      const auto along = [&](std::int64_t otherwise, std::int64_t last) {
        list all(sides, otherwise);
        all.back() = last;
        return all;
      };
      const auto padded = [&](std::int64_t before, std::int64_t after) {
        list all(2 * sides, 0);
        all[sides - 1] = before;
        all.back() = after;
        return all;
      };
      CAPTURE(rank, unknown);
      CHECK(transposed(rank, 3, 2, {{"strides", along(1, 2)}}, unknown).numbers ==
            std::vector<float>{1, 10, 2, 20, 3, 30});
      CHECK(transposed(rank, 3, 3, {{"strides", along(1, 2)}, {"pads", padded(1, 1)}}, unknown)
                .numbers == std::vector<float>{10, 102, 20, 203, 30});
      CHECK(transposed(
                rank, 3, 3,
                {{"strides", along(1, 2)}, {"pads", padded(1, 1)}, {"output_padding", along(0, 1)}},
                unknown)
                .numbers == std::vector<float>{10, 102, 20, 203, 30, 300});
      CHECK(transposed(rank, 2, 2, {{"dilations", along(1, 2)}, {"pads", padded(0, 1)}}, unknown)
                .numbers == std::vector<float>{1, 2, 10});
      // More elements at the end than the filter reaches.
      CHECK(transposed(rank, 2, 1, {{"strides", along(1, 2)}, {"output_padding", along(0, 1)}},
                       unknown)
                .numbers == std::vector<float>{1, 0, 2, 0});
    }
}

TEST_CASE("onnx: a transposed convolution of volumes in groups, with a bias") {
  // Two groups of one channel, two results each; all sides have filters of 2.
  std::vector<float> of_w;
  for (int i = 0; i < 32; ++i) of_w.push_back(static_cast<float>(i));
  const tensor w = floats({2, 2, 2, 2, 2}, of_w), bias = floats({4}, {1000, 2000, 3000, 4000});
  model m({value("x", {-1, 2, 1, 1, 1})}, {any("y")});
  m.graph.initializers = {{"w", &w}, {"bias", &bias}};
  m.node("ConvTranspose", {"x", "w", "bias"}, {"y"}, {{"group", 2}});
  const auto y = m.run({{"x", floats({1, 2, 1, 1, 1}, {1, 10})}})[0];
  CHECK(y.shape() == tensor_shape{1, 4, 2, 2, 2});
  std::vector<float> expected;
  for (int i = 0; i < 32; ++i)
    expected.push_back(static_cast<float>((i < 16 ? i : 10 * i) + 1000 * (i / 8 + 1)));
  CHECK(numbers(y) == expected);
}

TEST_CASE("onnx: paddings that conv2d_transpose has need no further operators") {
  const tensor w = floats({1, 1, 4, 4}, std::vector<float>(16, 1));
  model m({value("x", {-1, 1, 5, 5})}, {any("y")});
  m.graph.initializers = {{"w", &w}};
  const std::vector<std::int64_t> pads{1, 1, 1, 1}, strides{2, 2};
  m.node("ConvTranspose", {"x", "w"}, {"y"}, {{"pads", pads}, {"strides", strides}});
  CHECK(m.count("conv2d_transpose") == 1);
  CHECK(m.count("slice") == 0);
}
