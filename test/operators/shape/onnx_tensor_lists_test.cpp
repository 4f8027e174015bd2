// SPDX-License-Identifier: Apache-2.0
// onnx_tensor_lists: sequences of tensors in ONNX files.
#include <cstdint>
#include <string>
#include <vector>

#include "io/onnx/model_runs.hpp"
#include <catch2/catch.hpp>

using Catch::Contains;
using namespace model_runs;

namespace {

const tensor first({}, std::vector<std::int64_t>{0}), last({}, std::vector<std::int64_t>{-1}),
    beyond({}, std::vector<std::int64_t>{9}), two({}, std::vector<std::int64_t>{2}),
    parts({2}, std::vector<std::int64_t>{1, 4});

model of_five(const char* output = "y") {
  model m({value("x", {5})}, {any(output)});
  m.graph.initializers = {
      {"first", &first}, {"last", &last}, {"beyond", &beyond}, {"two", &two}, {"parts", &parts}};
  return m;
}
std::vector<float> run(const model& m) {
  return numbers(m.run({{"x", floats({5}, {1, 2, 3, 4, 5})}})[0]);
}

}  // namespace

TEST_CASE("onnx_tensor_lists: parts of equal sizes, of given sizes, and without their dimension") {
  const auto at = [](const char* split, const char* position, const lamina::onnx_attributes& more) {
    model m = of_five();
    m.node("SplitToSequence", {"x", split}, {"all"}, more);
    m.node("SequenceAt", {"all", position}, {"y"});
    return m.run({{"x", floats({5}, {1, 2, 3, 4, 5})}})[0];
  };
  CHECK(numbers(at("two", "last", {})) == std::vector<float>{5});
  CHECK(numbers(at("parts", "last", {})) == std::vector<float>{2, 3, 4, 5});
  CHECK(at("", "two", {{"keepdims", 0}}).shape() == tensor_shape{1});  // of a scalar
  CHECK(numbers(at("", "two", {})) == std::vector<float>{3});
}

TEST_CASE("onnx_tensor_lists: tensors are inserted, erased, counted and joined") {
  model m = of_five();
  m.node("SplitToSequence", {"x", "two"}, {"a"}).node("Neg", {"x"}, {"n"});
  m.node("SequenceInsert", {"a", "n"}, {"b"}).node("SequenceInsert", {"b", "n", "first"}, {"c"});
  m.node("SequenceErase", {"c"}, {"d"}).node("SequenceErase", {"d", "two"}, {"e"});
  m.node("ConcatFromSequence", {"e"}, {"y"}, {{"axis", 0}});
  CHECK(run(m) == std::vector<float>{-1, -2, -3, -4, -5, 1, 2, 5});
  m = of_five();
  m.node("SequenceEmpty", {}, {"a"}).node("SequenceInsert", {"a", "x"}, {"b"});
  m.node("SequenceInsert", {"b", "x", "last"}, {"c"}).node("SequenceLength", {"c"}, {"y"});
  CHECK(run(m) == std::vector<float>{2});
  m = of_five();
  m.node("Neg", {"x"}, {"n"}).node("SequenceConstruct", {"x", "n"}, {"a"});
  m.node("ConcatFromSequence", {"a"}, {"y"}, {{"axis", 1}, {"new_axis", 1}});
  CHECK(run(m) == std::vector<float>{1, -1, 2, -2, 3, -3, 4, -4, 5, -5});
}

TEST_CASE("onnx_tensor_lists: positions, sizes and values that do not fit are errors of the file") {
  model m = of_five();
  m.node("SplitToSequence", {"x", "two"}, {"a"}).node("SequenceAt", {"a", "beyond"}, {"y"});
  CHECK_THAT(m.failure(), Contains("expected a position from -3 to 2, found 9"));
  m = of_five();
  m.node("SplitToSequence", {"x", "last"}, {"a"}).node("SequenceAt", {"a", "first"}, {"y"});
  CHECK_THAT(m.failure(), Contains("expected a size above 0, found -1"));
  m = of_five();
  m.node("SplitToSequence", {"x", "two"}, {"a"}).node("Neg", {"a"}, {"y"});
  CHECK_THAT(m.failure(), Contains("expected a tensor as input 0, found a sequence"));
  m = of_five("a");
  m.node("SplitToSequence", {"x", "two"}, {"a"});
  CHECK_THAT(m.failure(), Contains("expected a tensor 'a' for the outputs, found a sequence"));
  m = of_five();
  m.node("SequenceEmpty", {}, {"a"}).node("ConcatFromSequence", {"a"}, {"y"}, {{"axis", 0}});
  CHECK_THAT(m.failure(), Contains("expected a sequence with tensors, found an empty one"));
  m = of_five();
  m.node("SequenceAt", {"x", "first"}, {"y"});
  CHECK_THAT(m.failure(), Contains("expected a sequence of tensors as input 0, found none"));
}
