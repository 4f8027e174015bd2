// SPDX-License-Identifier: Apache-2.0
// Operators that only ONNX files have: boxes that overlap, different rows, bits of integers, and as
// many of the largest elements as a run says.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "io/onnx/model_runs.hpp"
#include <catch2/catch.hpp>

#include <lamina/executor/onnx_kernels.hpp>

using Catch::Contains;
using namespace model_runs;

namespace {

tensor integers(const tensor_shape& shape, const std::vector<std::int64_t>& all) {
  return tensor(shape, all);
}

/// The chosen boxes of two images with two classes.
std::vector<float> chosen(const lamina::onnx_attributes& attributes, std::int64_t limit,
                          float overlap, float least, const std::vector<float>& boxes) {
  const tensor most = one(limit), iou = floats({1}, {overlap}), score = floats({1}, {least});
  model m({value("boxes", {1, -1, 4}), value("scores", {1, 2, -1})}, {any("y")});
  m.graph.initializers = {{"most", &most}, {"iou", &iou}, {"score", &score}};
  m.node("NonMaxSuppression", {"boxes", "scores", "most", "iou", "score"}, {"y"}, attributes);
  const auto y =
      m.run({{"boxes", floats({1, 4, 4}, boxes)},
             {"scores", floats({1, 2, 4}, {0.5F, 0.9F, 0.9F, 0.1F, 0, 0, 0.2F, 0.3F})}})[0];
  CHECK(y.type() == dtype::int64);
  CHECK(y.shape()[1] == 3);
  return numbers(y);
}

}  // namespace

TEST_CASE("onnx_kernels: boxes that overlap a better one are left out") {
  // The first two boxes share 1 of 7, the corners of the third are exchanged, the last is apart.
  const std::vector<float> boxes{0, 0, 2, 2, 1, 1, 3, 3, 2, 2, 0, 0, 8, 8, 9, 9};
  // The first of two boxes with equal scores is first; box 2 is box 0.
  CHECK(chosen({}, 9, 0.2F, 0.2F, boxes) == std::vector<float>{0, 0, 1, 0, 0, 2, 0, 1, 3});
  CHECK(chosen({}, 9, 0.1F, 0.05F, boxes) ==
        std::vector<float>{0, 0, 1, 0, 0, 3, 0, 1, 3, 0, 1, 2});
  CHECK(chosen({}, 1, 0.2F, 0.2F, boxes) == std::vector<float>{0, 0, 1, 0, 1, 3});
  CHECK(chosen({}, 0, 0.2F, 0.2F, boxes).empty());
  const std::vector<float> centred{1, 1, 2, 2, 2, 2, 2, 2, 1, 1, 2, 2, 8, 8, 1, 1};
  CHECK(chosen({{"center_point_box", 1}}, 9, 0.2F, 0.2F, centred) ==
        std::vector<float>{0, 0, 1, 0, 0, 2, 0, 1, 3});
}

TEST_CASE("onnx_kernels: boxes without area overlap nothing, and wrong shapes are errors") {
  CHECK(chosen({}, 9, 0, 0.2F, std::vector<float>(16, 1)) ==
        std::vector<float>{0, 0, 1, 0, 0, 2, 0, 0, 0, 0, 1, 3});
  model m({value("boxes", {1, -1, 4}), value("scores", {1, 2, -1})}, {any("y")});
  m.node("NonMaxSuppression", {"boxes", "scores"}, {"y"});
  CHECK_THROWS_WITH(
      m.run({{"boxes", floats({1, 1, 4}, {0, 0, 1, 1})},
             {"scores", floats({1, 2, 2}, {1, 1, 1, 1})}}),
      Contains("expected boxes [images, boxes, 4] and scores [images, classes, boxes], "
               "found [1, 1, 4] and [1, 2, 2]"));
}

TEST_CASE("onnx_kernels: different elements and rows, and where they are") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  model m({value("x", {-1})}, {any("y"), any("first"), any("index"), any("count"), any("z")});
  m.node("Unique", {"x"}, {"y", "first", "index", "count"});
  m.node("Unique", {"x"}, {"z"}, {{"sorted", 0}});
  const auto found = m.run({{"x", floats({6}, {3, 1, nan, 3, 1, 2})}});
  const std::vector<float> y = numbers(found[0]);
  REQUIRE(y.size() == 4);
  CHECK(std::vector<float>(y.begin(), y.end() - 1) == std::vector<float>{1, 2, 3});
  CHECK(y[3] != y[3]);
  CHECK(numbers(found[1]) == std::vector<float>{1, 5, 0, 2});
  CHECK(numbers(found[2]) == std::vector<float>{2, 0, 3, 2, 0, 1});
  CHECK(numbers(found[3]) == std::vector<float>{2, 1, 2, 1});
  CHECK(numbers(found[4])[0] == 3);
  CHECK(numbers(found[4])[1] == 1);

  model of_columns({value("x", {2, 3})}, {any("y")});
  of_columns.node("Unique", {"x"}, {"y"}, {{"axis", 1}});
  const auto columns = of_columns.run({{"x", floats({2, 3}, {5, 4, 5, 1, 2, 1})}})[0];
  CHECK(columns.shape() == tensor_shape{2, 2});
  CHECK(numbers(columns) == std::vector<float>{4, 5, 2, 1});
}

TEST_CASE("onnx_kernels: bits of integers, with and without a sign") {
  model m({value("x", {3}, dtype::int64), value("y", {1}, dtype::int64)},
          {any("a"), any("o"), any("e"), any("n")});
  m.node("BitwiseAnd", {"x", "y"}, {"a"}).node("BitwiseOr", {"x", "y"}, {"o"});
  m.node("BitwiseXor", {"x", "y"}, {"e"}).node("BitwiseNot", {"x"}, {"n"});
  const auto found = m.run({{"x", integers({3}, {5, -1, 0})}, {"y", one(std::int64_t{6})}});
  CHECK(numbers(found[0]) == std::vector<float>{4, 6, 0});
  CHECK(numbers(found[1]) == std::vector<float>{7, -1, 6});
  CHECK(numbers(found[2]) == std::vector<float>{3, -7, 6});
  CHECK(numbers(found[3]) == std::vector<float>{-6, 0, -1});

  model b({value("x", {2}, dtype::uint8), value("y", {2}, dtype::uint8)},
          {any("l"), any("r"), any("n")});
  b.node("BitShift", {"x", "y"}, {"l"}, {{"direction", "LEFT"}});
  b.node("BitShift", {"x", "y"}, {"r"}, {{"direction", "RIGHT"}});
  b.node("BitwiseNot", {"x"}, {"n"});
  const auto shifted = b.run({{"x", integers({2}, {200, 3}).cast(dtype::uint8)},
                              {"y", integers({2}, {1, 2}).cast(dtype::uint8)}});
  CHECK(numbers(shifted[0]) == std::vector<float>{144, 12});
  CHECK(numbers(shifted[1]) == std::vector<float>{100, 0});
  CHECK(numbers(shifted[2]) == std::vector<float>{55, 252});

  model s({value("x", {2}, dtype::int32), value("y", {2}, dtype::int32)}, {any("r")});
  s.node("BitShift", {"x", "y"}, {"r"}, {{"direction", "RIGHT"}});
  const auto of_sign = s.run({{"x", integers({2}, {-8, -8}).cast(dtype::int32)},
                              {"y", integers({2}, {1, 40}).cast(dtype::int32)}});
  CHECK(numbers(of_sign[0]) == std::vector<float>{-4, -1});

  model wrong({value("x", {2}, dtype::uint8)}, {any("l")});
  wrong.node("BitShift", {"x", "x"}, {"l"}, {{"direction", "UP"}});
  CHECK_THAT(wrong.failure(), Contains("expected direction LEFT or RIGHT, found 'UP'"));
}

TEST_CASE("onnx_kernels: as many of the largest elements as a run says") {
  model m({value("x", {-1}), value("k", {1}, dtype::int64)}, {any("y"), any("at")});
  m.node("TopK", {"x", "k"}, {"y", "at"});
  const auto found = m.run({{"x", floats({4}, {1, 4, 2, 3})}, {"k", one(std::int64_t{3})}});
  CHECK(numbers(found[0]) == std::vector<float>{4, 3, 2});
  CHECK(numbers(found[1]) == std::vector<float>{1, 3, 2});
}
