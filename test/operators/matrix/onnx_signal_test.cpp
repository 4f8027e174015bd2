// SPDX-License-Identifier: Apache-2.0
// onnx_signal: transforms of signals whose length is known, and unknown, and sums of windows. The
// results of the onnx package's models are in test/interop.
#include <cstdint>
#include <string>
#include <vector>

#include "io/onnx/model_runs.hpp"
#include <catch2/catch.hpp>

using Catch::Contains;
using namespace model_runs;

namespace {

void require_near(const std::vector<float>& found, const std::vector<float>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK(found[i] == Approx(expected[i]).margin(1e-5));
}

}  // namespace

TEST_CASE("onnx_signal: a transform and its inverse") {
  const tensor axis = tensor::filled<std::int64_t>({}, 1);
  model m({value("x", {-1, 4, 1})}, {any("y"), any("back"), any("half")});
  m.graph.initializers = {{"axis", &axis}};
  m.node("DFT", {"x", "", "axis"}, {"y"})
      .node("DFT", {"y", "", "axis"}, {"back"}, {{"inverse", 1}});
  m.node("DFT", {"x", "", "axis"}, {"half"}, {{"onesided", 1}});
  const auto found = m.run({{"x", floats({1, 4, 1}, {1, 2, 3, 5})}});
  require_near(numbers(found[0]), {11, 0, -2, 3, -3, 0, -2, -3});
  require_near(numbers(found[1]), {1, 0, 2, 0, 3, 0, 5, 0});
  require_near(numbers(found[2]), {11, 0, -2, 3, -3, 0});
}

TEST_CASE("onnx_signal: frames of a signal of a known and an unknown length") {
  const tensor step = tensor::filled<std::int64_t>({}, 2),
               size = tensor::filled<std::int64_t>({}, 4);
  for (const std::int64_t n : {6, -1}) {
    model m({value("x", {1, n})}, {any("y")});
    m.graph.initializers = {{"step", &step}, {"size", &size}};
    m.node("HannWindow", {"size"}, {"window"});
    m.node("STFT", {"x", "step", "window"}, {"y"});
    const auto y = m.run({{"x", floats({1, 6}, {1, 2, 3, 5, 8, 13})}})[0];
    CHECK(y.shape() == tensor_shape{1, 2, 3, 2});
    // The window is 0, 1/2, 1, 1/2.
    require_near(numbers(y), {6.5F, 0, -3, 1.5F, -0.5F, 0, 17, 0, -8, 4, -1, 0});
  }
}

TEST_CASE("onnx_signal: windows are added to the image without its padding") {
  const std::vector<std::int64_t> of_image{3}, of_block{2};
  const tensor image({1}, of_image), block({1}, of_block);
  model m({value("x", {-1, 4, 4})}, {any("y")});
  m.graph.initializers = {{"image", &image}, {"block", &block}};
  const std::vector<std::int64_t> pads{1, 1};
  m.node("Col2Im", {"x", "image", "block"}, {"y"}, {{"pads", pads}});
  // Two channels: windows of 2 elements at 4 places of 5.
  const auto y = m.run(
      {{"x", floats({1, 4, 4}, {1, 2, 3, 4, 10, 20, 30, 40, 5, 6, 7, 8, 50, 60, 70, 80})}})[0];
  CHECK(y.shape() == tensor_shape{1, 2, 3});
  CHECK(numbers(y) == std::vector<float>{12, 23, 34, 56, 67, 78});
}
