// SPDX-License-Identifier: Apache-2.0
// onnx_quantize: quantised numbers of ONNX files, their products and convolutions, and wrong scales
// and zero points. The results of the onnx package's models are in test/interop.
#include <cstdint>
#include <string>
#include <vector>

#include "io/onnx/model_runs.hpp"
#include <catch2/catch.hpp>

using Catch::Contains;
using namespace model_runs;

namespace {

tensor bytes(const tensor_shape& shape, const std::vector<int>& numbers, dtype type) {
  return tensor(shape, std::vector<std::int32_t>(numbers.begin(), numbers.end())).cast(type);
}

}  // namespace

TEST_CASE("onnx_quantize: numbers are rounded to even and limited") {
  const tensor scale = floats({}, {2});
  const tensor zero = tensor::filled<std::uint8_t>({}, 10);
  const tensor below = tensor::filled<std::int8_t>({}, -1);
  model m({value("x", {-1})}, {any("u"), any("s")});
  m.graph.initializers = {{"scale", &scale}, {"zero", &zero}, {"below", &below}};
  m.node("QuantizeLinear", {"x", "scale", "zero"}, {"u"});
  m.node("QuantizeLinear", {"x", "scale", "below"}, {"s"});
  const auto found = m.run({{"x", floats({7}, {-1000, -3, -1, 0, 1, 3, 1000})}});
  CHECK(found[0].type() == dtype::uint8);
  CHECK(numbers(found[0]) == std::vector<float>{0, 8, 10, 10, 10, 12, 255});
  CHECK(found[1].type() == dtype::int8);
  CHECK(numbers(found[1]) == std::vector<float>{-128, -3, -1, -1, -1, 1, 127});
}

TEST_CASE("onnx_quantize: scales for an axis, for blocks, and for constants") {
  const tensor scales = floats({3}, {1, 2, 3}), blocks = floats({2, 2}, {1, 2, 3, 4});
  const tensor zeros = bytes({3}, {0, 1, 2}, dtype::int8);
  const tensor weights = bytes({2, 3}, {-128, -1, 0, 1, 2, 127}, dtype::int8);
  model m({value("q", {2, 3}, dtype::int8)}, {any("y"), any("z"), any("b")});
  m.graph.initializers = {
      {"scales", &scales}, {"zeros", &zeros}, {"weights", &weights}, {"blocks", &blocks}};
  m.node("DequantizeLinear", {"q", "scales", "zeros"}, {"y"}, {{"axis", -1}});
  m.node("DequantizeLinear", {"weights", "scales", "zeros"}, {"z"}, {{"axis", 1}});
  m.node("DequantizeLinear", {"weights", "blocks"}, {"b"}, {{"axis", 1}, {"block_size", 2}});
  const auto found = m.run({{"q", weights}});
  const std::vector<float> expected{-128, -4, -6, 1, 2, 375};
  CHECK(numbers(found[0]) == expected);
  CHECK(numbers(found[1]) == expected);
  CHECK(numbers(found[2]) == std::vector<float>{-128, -1, 0, 3, 6, 508});
  CHECK(m.count("elementwise_mul") == 1);  // the constants are computed before the run
}

TEST_CASE("onnx_quantize: the range of x, with 0, determines a dynamic scale") {
  model m({value("x", {3})}, {any("y"), any("scale"), any("zero")});
  m.node("DynamicQuantizeLinear", {"x"}, {"y", "scale", "zero"});
  auto found = m.run({{"x", floats({3}, {1, 2, 5.1F})}});
  CHECK(numbers(found[0]) == std::vector<float>{50, 100, 255});
  CHECK(numbers(found[1])[0] == Approx(0.02));
  CHECK(numbers(found[2]) == std::vector<float>{0});
  found = m.run({{"x", floats({3}, {0, 0, 0})}});
  CHECK(numbers(found[0]) == std::vector<float>{0, 0, 0});
  CHECK(numbers(found[1])[0] == 1);
}

TEST_CASE("onnx_quantize: integer products are exact for any depth") {
  for (const int depth : {3, 257, 258, 2000}) {
    std::vector<int> a, b;
    std::int64_t expected = 0;
    for (int k = 0; k < depth; ++k) {
      a.push_back(255 - k % 7);
      b.push_back(k % 2 == 0 ? 255 : k % 256);
      expected += static_cast<std::int64_t>(a.back() - 1) * (b.back() - 3);
    }
    const tensor one_zero = tensor::filled<std::uint8_t>({}, 1),
                 three = tensor::filled<std::uint8_t>({}, 3);
    model m({value("a", {1, depth}, dtype::uint8), value("b", {depth, 1}, dtype::uint8),
             value("x", {1})},
            {any("y"), any("c"), any("z")});
    m.graph.initializers = {{"one", &one_zero}, {"three", &three}};
    m.node("MatMulInteger", {"a", "b", "one", "three"}, {"y"}).node("Neg", {"x"}, {"z"});
    const std::vector<std::int64_t> image{1, depth, 1, 1};
    const tensor shape({4}, image);
    m.graph.initializers.emplace_back("image", &shape);
    m.node("Reshape", {"a", "image"}, {"ai"}).node("Reshape", {"b", "image"}, {"bi"});
    m.node("ConvInteger", {"ai", "bi", "one", "three"}, {"c"});
    const std::size_t n = static_cast<std::size_t>(depth);
    const auto found = m.run({{"a", bytes({1, n}, a, dtype::uint8)},
                              {"b", bytes({n, 1}, b, dtype::uint8)},
                              {"x", floats({1}, {1})}});
    CHECK(found[0].type() == dtype::int32);
    CHECK(found[0].as<std::int32_t>().flat(0) == expected);
    CHECK(found[1].as<std::int32_t>().flat(0) == expected);
  }
}

TEST_CASE("onnx_quantize: a quantised convolution with scales of channels") {
  const tensor x_scale = floats({}, {0.5F}), w_scale = floats({2}, {1, 0.25F}),
               y_scale = floats({}, {0.5F});
  const tensor x_zero = tensor::filled<std::uint8_t>({}, 1),
               y_zero = tensor::filled<std::uint8_t>({}, 5);
  const tensor w_zero = bytes({2}, {0, 0}, dtype::int8), w = bytes({2, 1, 1}, {2, -4}, dtype::int8);
  const tensor bias({2}, std::vector<std::int32_t>{3, 8});
  model m({value("x", {1, 1, 3}, dtype::uint8)}, {any("y")});
  m.graph.initializers = {{"xs", &x_scale}, {"ws", &w_scale}, {"ys", &y_scale}, {"xz", &x_zero},
                          {"yz", &y_zero},  {"wz", &w_zero},  {"w", &w},        {"b", &bias}};
  m.node("QLinearConv", {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"}, {"y"});
  const auto found = m.run({{"x", bytes({1, 1, 3}, {1, 2, 200}, dtype::uint8)}});
  // (2 (x - 1) + 3) + 5 and (-4 (x - 1) + 8) / 4 + 5, from 0 to 255.
  CHECK(numbers(found[0]) == std::vector<float>{8, 10, 255, 7, 6, 0});
}

TEST_CASE("onnx_quantize: wrong scales and zero points are errors that name the node") {
  const auto failure = [](const char* type, const lamina::onnx_names& inputs,
                          const lamina::onnx_attributes& attributes = {}) {
    const tensor pair = floats({2}, {1, 2});
    model m({value("x", {2, 3}), value("q", {2, 3}, dtype::int8), value("s", {}),
             value("i", {}, dtype::int32), value("w", {3, 2}, dtype::int8)},
            {any("y")});
    m.graph.initializers = {{"pair", &pair}};
    m.node(type, inputs, {"y"}, attributes);
    return m.failure();
  };
  CHECK(failure("QuantizeLinear", {"x", "s"}) == "loaded");
  CHECK_THAT(failure("QuantizeLinear", {"x"}),
             Contains("node 'y' of operator QuantizeLinear: "
                      "expected a tensor as input 1, found none"));
  CHECK_THAT(failure("QuantizeLinear", {"x", "s", "i"}), Contains("found data_type 6"));
  CHECK_THAT(failure("QuantizeLinear", {"x", "s"}, {{"output_dtype", 17}}),
             Contains("found data_type 17"));
  CHECK_THAT(failure("QuantizeLinear", {"x", "i"}), Contains("a scale of floating numbers"));
  CHECK_THAT(failure("QuantizeLinear", {"x", "pair"}, {{"axis", 1}}),
             Contains("for each of 3 indices of axis 1, found dimensions [2]"));
  CHECK_THAT(failure("QuantizeLinear", {"x", "pair"}, {{"axis", 2}}),
             Contains("expected an axis from -2 to 1, found 2"));
  CHECK_THAT(failure("DequantizeLinear", {"q", "pair"}, {{"axis", 0}, {"block_size", 2}}),
             Contains("for each block, of dimensions [1, 3], found [2]"));
  CHECK_THAT(failure("DequantizeLinear", {"q", "x"}, {{"axis", 0}, {"block_size", -1}}),
             Contains("for each block"));
  CHECK(failure("MatMulInteger", {"q", "w"}) == "loaded");
  CHECK_THAT(failure("MatMulInteger", {"x", "w"}), Contains("expected int8 or uint8"));
  CHECK_THAT(failure("MatMulInteger", {"q", "q"}), Contains("expected matrices that fit"));
  CHECK_THAT(failure("QLinearMatMul", {"q", "s"}), Contains("expected a tensor as input 2"));
  CHECK_THAT(failure("ConvInteger", {"q", "w"}), Contains("3 to 5 dimensions"));
}
