// SPDX-License-Identifier: Apache-2.0
// onnx: dimensions that are known at run time only, and change. The results of the onnx package's
// models are in test/interop.
#include <cstdint>
#include <vector>

#include "io/onnx/model_runs.hpp"
#include <catch2/catch.hpp>

using namespace model_runs;

TEST_CASE("onnx: a padded or repeated dimension is another one") {
  const tensor pads({2}, std::vector<std::int64_t>{1, 1}), twice = one(std::int64_t{2});
  model m({value("x", {-1})}, {any("p"), any("t")});
  m.graph.initializers = {{"pads", &pads}, {"twice", &twice}};
  m.node("Pad", {"x", "pads"}, {"padded"}).node("Tile", {"x", "twice"}, {"tiled"});
  m.node("Shape", {"padded"}, {"of_padded"}).node("Shape", {"tiled"}, {"of_tiled"});
  m.node("ConstantOfShape", {"of_padded"}, {"p"}).node("ConstantOfShape", {"of_tiled"}, {"t"});
  const auto found = m.run({{"x", floats({3}, {1, 2, 3})}});
  CHECK(found[0].shape() == tensor_shape{5});
  CHECK(found[1].shape() == tensor_shape{6});
}

TEST_CASE("onnx: repeats that are known at run time only") {
  model m({value("x", {1, 2, 2}), value("repeats", {3}, dtype::int64)}, {any("y")});
  m.node("Tile", {"x", "repeats"}, {"y"});
  const auto y = m.run({{"x", floats({1, 2, 2}, {1, 2, 3, 4})},
                        {"repeats", tensor({3}, std::vector<std::int64_t>{2, 2, 1})}})[0];
  CHECK(y.shape() == tensor_shape{2, 4, 2});
  CHECK(numbers(y) == std::vector<float>{1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4});
}

TEST_CASE("onnx: elements that are cut off at both ends of an unknown dimension") {
  const tensor pads({2}, std::vector<std::int64_t>{-1, -2});
  model m({value("x", {-1})}, {any("y")});
  m.graph.initializers = {{"pads", &pads}};
  m.node("Pad", {"x", "pads"}, {"y"});
  CHECK(numbers(m.run({{"x", floats({5}, {1, 2, 3, 4, 5})}})[0]) == std::vector<float>{2, 3});
}

TEST_CASE("onnx: a range without numbers") {
  const tensor zero = tensor::filled<std::int64_t>({}, 0),
               step = tensor::filled<std::int64_t>({}, 1);
  model m({whole("n")}, {any("y")});
  m.graph.initializers = {{"zero", &zero}, {"step", &step}};
  m.node("Range", {"zero", "n", "step"}, {"y"});
  CHECK(m.run({{"n", one(std::int64_t{0})}})[0].shape() == tensor_shape{0});
  CHECK(m.run({{"n", one(std::int64_t{-3})}})[0].shape() == tensor_shape{0});
  CHECK(numbers(m.run({{"n", one(std::int64_t{2})}})[0]) == std::vector<float>{0, 1});
}
