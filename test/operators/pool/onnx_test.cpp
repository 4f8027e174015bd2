// SPDX-License-Identifier: Apache-2.0
// Pools of ONNX files whose windows are dilated. The results of the onnx package's models are in
// test/interop.
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
