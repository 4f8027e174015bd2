// SPDX-License-Identifier: Apache-2.0
// onnx: resized images whose sides are known before a run, and at run time only. The results of the
// onnx package's models are in test/interop.
#include <cstdint>
#include <string>
#include <vector>

#include "io/onnx/model_runs.hpp"
#include <catch2/catch.hpp>

using Catch::Contains;
using namespace model_runs;

namespace {

/// Resizes a line of elements by a scale.
std::vector<float> resized(const std::vector<float>& x, float scale,
                           const lamina::onnx_attributes& attributes, bool unknown = false) {
  const tensor scales = floats({3}, {1, 1, scale});
  model m({value("x", {1, 1, unknown ? -1 : static_cast<std::int64_t>(x.size())})}, {any("y")});
  m.graph.initializers = {{"scales", &scales}};
  m.node("Resize", {"x", "", "scales"}, {"y"}, attributes);
  return numbers(m.run({{"x", floats({1, 1, x.size()}, x)}})[0]);
}

void require_near(const std::vector<float>& found, const std::vector<float>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK(found[i] == Approx(expected[i]).margin(1e-5));
}

std::vector<float> counted(std::size_t n) {
  std::vector<float> all;
  for (std::size_t i = 0; i < n; ++i) all.push_back(static_cast<float>(i));
  return all;
}

}  // namespace

TEST_CASE("onnx: a scale that makes no whole number of elements, as in PyTorch") {
  // 9 * 0.6 = 5.4: the last of the 5 elements is the corner.
  require_near(resized(counted(9), 0.6F,
                       {{"mode", "linear"}, {"coordinate_transformation_mode", "align_corners"}}),
               {0, 2, 4, 6, 8});
  // 3 / 0.6 is 5 in float, although the float 0.6 is a little more than 0.6.
  require_near(resized(counted(9), 0.6F,
                       {{"mode", "nearest"},
                        {"coordinate_transformation_mode", "asymmetric"},
                        {"nearest_mode", "floor"}}),
               {0, 1, 3, 5, 6});
}

TEST_CASE("onnx: sides that are known at run time only give the same elements") {
  const std::vector<float> x{3, 1, 4, 1, 5, 9, 2};
  for (const float scale : {2.0F, 0.6F, 1.7F})
    for (const char* place : {"asymmetric", "half_pixel", "pytorch_half_pixel", "align_corners"}) {
      const auto by = [&](const char* mode, const char* nearest, bool unknown) {
        return resized(
            x, scale,
            {{"mode", mode}, {"coordinate_transformation_mode", place}, {"nearest_mode", nearest}},
            unknown);
      };
      for (const char* nearest : {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"})
        CHECK(by("nearest", nearest, true) == by("nearest", nearest, false));
      require_near(by("linear", "floor", true), by("linear", "floor", false));
    }
  require_near(
      resized(x, 0.2F,
              {{"mode", "linear"}, {"coordinate_transformation_mode", "pytorch_half_pixel"}}, true),
      {3});
}

TEST_CASE("onnx: an image gets the size of another one") {
  const tensor first = one(std::int64_t{0}), two = one(std::int64_t{2}), end = one(std::int64_t{4});
  model m({value("x", {1, 1, 1, 2}), value("like", {1, 3, 2, -1})}, {any("y")});
  m.graph.initializers = {{"first", &first}, {"two", &two}, {"end", &end}};
  m.node("Shape", {"x"}, {"of_x"}).node("Shape", {"like"}, {"of_like"});
  m.node("Slice", {"of_x", "first", "two"}, {"outer"});
  m.node("Slice", {"of_like", "two", "end"}, {"inner"});
  m.node("Concat", {"outer", "inner"}, {"sizes"}, {{"axis", 0}});
  m.node("Resize", {"x", "", "", "sizes"}, {"y"}, {{"mode", "linear"}});
  const auto y = m.run({{"x", floats({1, 1, 1, 2}, {0, 4})},
                        {"like", floats({1, 3, 2, 4}, std::vector<float>(24, 0))}})[0];
  CHECK(y.shape() == tensor_shape{1, 1, 2, 4});
  require_near(numbers(y), {0, 1, 3, 4, 0, 1, 3, 4});
}

TEST_CASE("onnx: modes that need known sides say so") {
  const tensor scales = floats({3}, {1, 1, 2});
  model m({value("x", {1, 1, -1})}, {any("y")});
  m.graph.initializers = {{"scales", &scales}};
  m.node("Resize", {"x", "", "scales"}, {"y"}, {{"mode", "cubic"}});
  CHECK_THAT(m.failure(), Contains("expected sides that are known before a run for mode cubic"));
}

TEST_CASE("onnx: images are resized by lamina's own operators where these read the same elements") {
  const auto count_of = [](const char* type, const char* mode, const char* place, float scale) {
    const tensor scales = floats({4}, {1, 1, scale, 2});
    model m({value("x", {-1, 2, 5, 3})}, {any("y")});
    m.graph.initializers = {{"scales", &scales}};
    m.node("Resize", {"x", "", "scales"}, {"y"},
           {{"mode", mode}, {"coordinate_transformation_mode", place}, {"nearest_mode", "floor"}});
    return m.count(type);
  };
  CHECK(count_of("nearest_interp", "nearest", "asymmetric", 2) == 1);
  for (const char* place : {"asymmetric", "half_pixel", "align_corners"})
    CHECK(count_of("bilinear_interp", "linear", place, 2) == 1);
  // 5 * 0.7 = 3.5 elements: the positions of 3 elements are others.
  CHECK(count_of("bilinear_interp", "linear", "half_pixel", 0.7F) == 1);
  CHECK(count_of("matmul", "linear", "half_pixel", 0.7F) == 1);
}
