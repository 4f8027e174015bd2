// SPDX-License-Identifier: Apache-2.0
// onnx_grid_sample: values between elements and outside of them, and wrong grids. The results of
// the onnx package's models are in test/interop.
#include <limits>
#include <string>
#include <vector>

#include "io/onnx/model_runs.hpp"
#include <catch2/catch.hpp>

using Catch::Contains;
using namespace model_runs;

namespace {

/// Samples a signal of one side at positions.
std::vector<float> sampled(const std::vector<float>& x, const std::vector<float>& positions,
                           const lamina::onnx_attributes& attributes, bool unknown = false) {
  const std::int64_t n = unknown ? -1 : 1;
  const std::size_t count = positions.size();
  model m({value("x", {n, 1, static_cast<std::int64_t>(x.size())}),
           value("grid", {n, static_cast<std::int64_t>(count), 1})},
          {any("y")});
  m.node("GridSample", {"x", "grid"}, {"y"}, attributes);
  return numbers(
      m.run({{"x", floats({1, 1, x.size()}, x)}, {"grid", floats({1, count, 1}, positions)}})[0]);
}

void require_near(const std::vector<float>& found, const std::vector<float>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK(found[i] == Approx(expected[i]).margin(1e-5));
}

}  // namespace

TEST_CASE("onnx_grid_sample: between elements, at edges and outside") {
  const std::vector<float> x{1, 2, 4};
  // Without align_corners, -1 is the edge of the first element and 0 the centre of the second one.
  require_near(sampled(x, {-1, -2.0F / 3, 0, 1.0F / 3, 1, 5}, {}), {0.5F, 1, 2, 3, 2, 0});
  require_near(sampled(x, {-1, 0, 0.5F, 1}, {{"align_corners", 1}}), {1, 2, 3, 4});
  require_near(sampled(x, {-9, 0, 9}, {{"padding_mode", "border"}}), {1, 2, 4});
  // 2 is half a side outside of the last element, so the middle one is read.
  require_near(sampled(x, {2, -2, 3}, {{"padding_mode", "reflection"}, {"align_corners", 1}}),
               {2, 2, 1});
  require_near(sampled(x, {-0.4F, 0.3F, 7}, {{"mode", "nearest"}, {"align_corners", 1}}),
               {2, 2, 0});
  require_near(sampled(x, {-1, 0, 1}, {{"mode", "cubic"}, {"align_corners", 1}}), x);
  // Half an element beyond the last one, the kernel still reads the element before it.
  require_near(
      sampled(x, {1.5F}, {{"mode", "cubic"}, {"padding_mode", "border"}, {"align_corners", 1}}),
      {4.1875F});
  require_near(sampled(x, {0, 1}, {{"align_corners", 1}}, true), {2, 4});
}

TEST_CASE("onnx_grid_sample: each sample reads its own elements, also of an unknown number") {
  for (const std::int64_t n : {-1, 2}) {
    model m({value("x", {n, 2, 1, 2}), value("grid", {n, 1, 1, 2})}, {any("y")});
    m.node("GridSample", {"x", "grid"}, {"y"}, {{"align_corners", 1}});
    const auto found = m.run({{"x", floats({2, 2, 1, 2}, {0, 1, 10, 11, 20, 21, 30, 31})},
                              {"grid", floats({2, 1, 1, 2}, {-1, 0, 0.5F, 0})}});
    CHECK(found[0].shape() == tensor_shape{2, 2, 1, 1});
    CHECK(numbers(found[0]) == std::vector<float>{0, 10, 20.75F, 30.75F});
  }
}

TEST_CASE("onnx_grid_sample: positions that are no numbers read nothing outside of x") {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  for (const char* padding : {"zeros", "border", "reflection"})
    for (const char* mode : {"linear", "nearest", "cubic"})
      CHECK(sampled({1, 2, 4}, {nan, infinity, -infinity, 1e30F, -1e30F},
                    {{"mode", mode}, {"padding_mode", padding}})
                .size() == 5);
}

TEST_CASE("onnx_grid_sample: wrong grids and modes are errors that name the node") {
  const auto failure = [](const std::vector<std::int64_t>& x, const std::vector<std::int64_t>& grid,
                          const lamina::onnx_attributes& attributes = {}) {
    model m({value("x", x), value("grid", grid)}, {any("y")});
    m.node("GridSample", {"x", "grid"}, {"y"}, attributes);
    return m.failure();
  };
  CHECK(failure({1, 1, 4, 4}, {1, 2, 2, 2}) == "loaded");
  CHECK_THAT(failure({1, 1, 4, 4}, {1, 2, 2}),
             Contains("node 'y' of operator GridSample: expected a grid of 4 dimensions"));
  CHECK_THAT(failure({1, 1, 4, 4}, {1, 2, 2, 3}), Contains("the last one of 2"));
  CHECK_THAT(failure({1, 4}, {1, 4}), Contains("3 to 8 dimensions"));
  CHECK_THAT(failure({1, 1, -1}, {1, 2, 1}), Contains("to be known before a run"));
  CHECK_THAT(failure({1, 1, 4}, {1, 2, 1}, {{"mode", "other"}}), Contains("found 'other'"));
  CHECK_THAT(failure({1, 1, 4}, {1, 2, 1}, {{"padding_mode", "wrap"}}), Contains("found 'wrap'"));
}
