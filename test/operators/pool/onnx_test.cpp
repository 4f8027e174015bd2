// SPDX-License-Identifier: Apache-2.0
// Pools of images and regions in ONNX files. The results of the onnx package's models are in
// test/interop.
#include <cstdint>
#include <string>
#include <vector>

#include "io/onnx/model_runs.hpp"
#include <catch2/catch.hpp>

using Catch::Contains;
using namespace model_runs;

TEST_CASE("pools of ONNX files: windows with dilations, paddings and rounded-up ends") {
  const auto pooled = [](const char* type, const lamina::onnx_attributes& attributes) {
    model m({value("x", {-1, 1, 6})}, {any("y")});
    m.node(type, {"x"}, {"y"}, attributes);
    return numbers(m.run({{"x", floats({1, 1, 6}, {1, -2, 3, -4, 5, -6})}})[0]);
  };
  using list = std::vector<std::int64_t>;
  const list two{2}, three{3}, ends{1, 1};
  CHECK(pooled("MaxPool", {{"kernel_shape", two}, {"dilations", three}}) ==
        std::vector<float>{1, 5, 3});
  CHECK(pooled("MaxPool", {{"kernel_shape", two}, {"dilations", three}, {"pads", ends}}) ==
        std::vector<float>{3, 1, 5, 3, -4});
  CHECK(pooled("MaxPool",
               {{"kernel_shape", two}, {"dilations", three}, {"strides", two}, {"ceil_mode", 1}}) ==
        std::vector<float>{1, 3});
  // Paddings count only if the node says so.
  CHECK(pooled("AveragePool", {{"kernel_shape", two}, {"dilations", two}, {"pads", ends}}) ==
        std::vector<float>{-2, 2, -3, 4, -5, 5});
  CHECK(
      pooled(
          "AveragePool",
          {{"kernel_shape", two}, {"dilations", two}, {"pads", ends}, {"count_include_pad", 1}}) ==
      std::vector<float>{-1, 2, -3, 4, -5, 2.5F});
  CHECK(pooled("LpPool", {{"kernel_shape", two}, {"dilations", two}, {"p", 1}}) ==
        std::vector<float>{4, 6, 8, 10});
}

TEST_CASE("pools of ONNX files: wrong windows are errors that name the node") {
  const auto failure = [](const lamina::onnx_attributes& attributes) {
    model m({value("x", {1, 1, 4})}, {any("y")});
    m.node("MaxPool", {"x"}, {"y"}, attributes);
    return m.failure();
  };
  using list = std::vector<std::int64_t>;
  CHECK_THAT(failure({{"kernel_shape", list{2}}, {"dilations", list{4}}}),
             Contains("node 'y' of operator MaxPool: expected windows that fit into the image"));
  CHECK_THAT(failure({{"kernel_shape", list{2}}, {"dilations", list{0}}}),
             Contains("dilations of at least 1"));
}

TEST_CASE("MaxPool gives positions in the batch, and MaxUnpool puts elements there") {
  const std::vector<std::int64_t> two{2, 2};
  model m({value("x", {-1, 2, 4, 4})}, {any("y"), any("at")});
  m.node("MaxPool", {"x"}, {"y", "at"}, {{"kernel_shape", two}, {"strides", two}});
  std::vector<float> x;
  for (int i = 0; i < 64; ++i) x.push_back(static_cast<float>(i * 37 % 64));
  const auto found = m.run({{"x", floats({2, 2, 4, 4}, x)}});
  const auto largest = numbers(found[0]), at = numbers(found[1]);
  REQUIRE(at.size() == 16);
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto place = static_cast<std::size_t>(at[i]);
    CHECK(x[place] == largest[i]);
    CHECK(place / 16 == i / 4);  // the plane
  }
  model back({value("x", {2, 2, 2, 2}), value("at", {2, 2, 2, 2}, dtype::int64)}, {any("y")});
  back.node("MaxUnpool", {"x", "at"}, {"y"}, {{"kernel_shape", two}, {"strides", two}});
  const auto image = numbers(back.run({{"x", found[0]}, {"at", found[1]}})[0]);
  REQUIRE(image.size() == 64);
  float sum = 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    CHECK(image[static_cast<std::size_t>(at[i])] == largest[i]);
    sum += largest[i];
  }
  for (const float v : image) sum -= v;
  CHECK(sum == 0);
}

TEST_CASE("RoiAlign and MaxRoiPool of regions whose number only a run knows") {
  model m({value("x", {2, 1, 4, 4}), value("r", {-1, 4}), value("i", {-1}, dtype::int64)},
          {any("y"), any("z")});
  m.node("RoiAlign", {"x", "r", "i"}, {"y"},
         {{"output_height", 1},
          {"output_width", 1},
          {"sampling_ratio", 2},
          {"coordinate_transformation_mode", "output_half_pixel"}});
  m.node("Cast", {"i"}, {"image"}, {{"to", 1}}).node("Unsqueeze", {"image", "one"}, {"column"});
  m.node("Concat", {"column", "r"}, {"all"}, {{"axis", 1}});
  m.node("MaxRoiPool", {"x", "all"}, {"z"}, {{"pooled_shape", std::vector<std::int64_t>{1, 1}}});
  const tensor one({1}, std::vector<std::int64_t>{1});
  m.graph.initializers = {{"one", &one}};
  std::vector<float> x;
  for (int i = 0; i < 32; ++i) x.push_back(static_cast<float>(i));  // linear in both sides
  const auto found = m.run({{"x", floats({2, 1, 4, 4}, x)},
                            {"r", floats({3, 4}, {0, 0, 2, 2, 1, 1, 3, 3, 0, 0, 3, 3})},
                            {"i", tensor({3}, std::vector<std::int64_t>{1, 0, 1})}});
  // The mean of a linear image is its value in the centre, (1, 1), (2, 2) or (1.5, 1.5).
  const auto mean = numbers(found[0]), largest = numbers(found[1]);
  REQUIRE(mean.size() == 3);
  CHECK(mean[0] == Approx(16 + 5));
  CHECK(mean[1] == Approx(10));
  CHECK(mean[2] == Approx(16 + 7.5f));
  CHECK(largest == std::vector<float>{16 + 10, 15, 31});
}
