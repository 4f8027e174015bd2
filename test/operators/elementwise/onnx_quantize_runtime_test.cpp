// SPDX-License-Identifier: Apache-2.0
// onnx_quantize_runtime: operators of ONNX Runtime on quantised numbers. The results of ONNX
// Runtime are in test/interop.
#include <cstdint>
#include <vector>

#include "io/onnx/model_runs.hpp"
#include <catch2/catch.hpp>

using namespace model_runs;

namespace {

tensor quantities(const tensor_shape& shape, const std::vector<int>& all) {
  return tensor(shape, std::vector<std::int32_t>(all.begin(), all.end())).cast(dtype::uint8);
}

/// A model whose constants are scales of 1/2, 1 and 2, and zero points of 0 and 10.
struct quantised : model {
  tensor half = floats({}, {0.5F}), unit = floats({}, {1}), two = floats({}, {2});
  tensor zero = quantities({}, {0}), ten = quantities({}, {10});
  explicit quantised(std::vector<lamina::onnx_value> inputs)
      : model(std::move(inputs), {any("y")}) {
    graph.initializers = {
        {"half", &half}, {"unit", &unit}, {"two", &two}, {"zero", &zero}, {"ten", &ten}};
  }
  std::vector<float> run_one(const char* type, lamina::onnx_names inputs,
                             const lamina::feed_map& feed,
                             const lamina::onnx_attributes& attributes = {}) {
    graph.nodes.push_back(onnx_node(type, inputs, {"y"}, attributes, "com.microsoft"));
    const auto y = run(feed)[0];
    CHECK(y.type() == dtype::uint8);
    return numbers(y);
  }
};

}  // namespace

TEST_CASE("onnx_quantize_runtime: sums and products of two operands") {
  const auto operands = [] {
    return quantised({value("a", {2}, dtype::uint8), value("b", {2}, dtype::uint8)});
  };
  // a stands for 2 and -3, b for 5 and 20.
  const lamina::feed_map feed{{"a", quantities({2}, {14, 4})}, {"b", quantities({2}, {5, 20})}};
  quantised sum = operands(), product = operands();
  CHECK(sum.run_one("QLinearAdd", {"a", "half", "ten", "b", "unit", "zero", "unit", "ten"}, feed) ==
        std::vector<float>{17, 27});
  CHECK(product.run_one("QLinearMul", {"a", "half", "ten", "b", "unit", "zero", "unit", "ten"},
                        feed) == std::vector<float>{20, 0});
}

TEST_CASE("onnx_quantize_runtime: functions, parts and means") {
  const auto input = [] { return quantised({value("a", {1, 2, 2}, dtype::uint8)}); };
  // a stands for 2, -3, 1 and -10.
  const lamina::feed_map feed{{"a", quantities({1, 2, 2}, {12, 7, 11, 0})}};
  quantised leaky = input(), mean = input(), both = input();
  CHECK(leaky.run_one("QLinearLeakyRelu", {"a", "unit", "ten", "half", "ten"}, feed,
                      {{"alpha", 0.5F}}) == std::vector<float>{14, 7, 12, 0});
  CHECK(mean.run_one("QLinearGlobalAveragePool", {"a", "unit", "ten", "half", "ten"}, feed) ==
        std::vector<float>{9, 1});
  CHECK(both.run_one("QLinearConcat", {"two", "ten", "a", "unit", "ten", "a", "two", "ten"}, feed,
                     {{"axis", 2}}) == std::vector<float>{11, 8, 12, 7, 10, 5, 11, 0});
}

TEST_CASE("onnx_quantize_runtime: products with a bias in the unit of both factors") {
  const tensor w = quantities({2, 2}, {1, 2, 3, 4});
  const tensor bias({2}, std::vector<std::int32_t>{2, -4});
  for (const bool turned : {false, true}) {
    quantised m({value("a", {1, 2}, dtype::uint8)});
    m.graph.initializers.push_back({"w", &w});
    m.graph.initializers.push_back({"bias", &bias});
    // a stands for 1 and 2; with the bias 1, -2.
    const std::vector<float> found =
        m.run_one("QGemm", {"a", "half", "ten", "w", "unit", "zero", "bias", "unit", "ten"},
                  {{"a", quantities({1, 2}, {12, 14})}}, {{"transB", turned ? 1 : 0}});
    CHECK(found == (turned ? std::vector<float>{16, 19} : std::vector<float>{18, 18}));
  }
}
