// SPDX-License-Identifier: Apache-2.0
// test/codegen/onnx_models.hpp - small ONNX models for the import as C++.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "io/onnx/model_bytes.hpp"

namespace onnx_models {

using model_bytes::value;

/// A model under construction that owns its initializers.
struct model : model_bytes::maker {
  std::deque<lamina::tensor> values{};

  model(lamina::onnx_value input, std::vector<lamina::onnx_value> outputs) {
    graph.inputs = {std::move(input)};
    graph.outputs = std::move(outputs);
  }
  /// Adds an initializer with the elements -0.5, -0.375, ..., 0.625 in turns.
  model& weight(const std::string& name, const lamina::tensor_shape& shape) {
    std::vector<float> numbers;
    for (std::size_t i = 0; i < lamina::size_of(shape); ++i)
      numbers.push_back(0.125F * static_cast<float>(i * 3 % 10) - 0.5F);
    return initializer(name, lamina::tensor(shape, numbers));
  }
  model& initializer(const std::string& name, lamina::tensor elements) {
    values.push_back(std::move(elements));
    graph.initializers.emplace_back(name, &values.back());
    return *this;
  }
};

/// A convolutional net with a symbolic batch, with names that are not C++ names.
inline std::string image() {
  model m(value("input.1", {-1, 1, 6, 6}), {value("class", {-1, 3})});
  m.weight("conv.weight", {2, 1, 3, 3}).weight("conv.bias", {2});
  m.weight("fc::weight", {3, 18}).weight("fc.bias", {3});
  m.node("Conv", {"input.1", "conv.weight", "conv.bias"}, {"/conv/Conv_output_0"},
         {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  m.node("Relu", {"/conv/Conv_output_0"}, {"2"});
  m.node("MaxPool", {"2"}, {"/pool/MaxPool_output_0"},
         {{"kernel_shape", std::vector<std::int64_t>{2, 2}},
          {"strides", std::vector<std::int64_t>{2, 2}}});
  m.node("Flatten", {"/pool/MaxPool_output_0"}, {"pool.MaxPool_output_0"});
  m.node("Gemm", {"pool.MaxPool_output_0", "fc::weight", "fc.bias"}, {"class"},
         {{"transB", std::int64_t{1}}});
  return m.bytes();
}

/// Three residual blocks and a relu; the batch is 2 in the file.
inline std::string blocks() {
  model m(value("x", {2, 4}), {value("y", {2, 4})});
  std::string from = "x";
  for (int i = 0; i < 3; ++i) {
    const std::string at = "layers." + std::to_string(i), path = "/" + at;
    m.weight(at + ".linear.weight", {4, 4}).weight(at + ".linear.bias", {4});
    m.weight(at + ".norm.weight", {4}).weight(at + ".norm.bias", {4});
    m.node("MatMul", {from, at + ".linear.weight"}, {path + "/linear/MatMul"});
    m.node("Add", {path + "/linear/MatMul", at + ".linear.bias"}, {path + "/linear/Add"});
    m.node("Tanh", {path + "/linear/Add"}, {path + "/Tanh"});
    m.node("LayerNormalization", {path + "/Tanh", at + ".norm.weight", at + ".norm.bias"},
           {path + "/norm/LayerNormalization"});
    m.node("Add", {path + "/norm/LayerNormalization", from}, {path + "/Add"});
    from = path + "/Add";
  }
  m.node("Relu", {from}, {"y"});
  return m.bytes();
}

/// A net that mixes the rows of its input, which therefore has no batch.
inline std::string fixed() {
  model m(value("x", {3, 4}), {value("low", {2, 2}), value("high", {2, 2})});
  m.initializer("order", lamina::tensor({2}, std::vector<std::int64_t>{2, 0}));
  m.initializer("factor", lamina::tensor::filled<float>({}, 2.5F));
  m.weight("shift", {4});
  m.node("Gather", {"x", "order"}, {"chosen"}, {{"axis", std::int64_t{0}}});
  m.node("Mul", {"chosen", "factor"}, {"scaled"});
  m.node("Add", {"scaled", "shift"}, {"moved"});
  m.node("Split", {"moved"}, {"low", "high"},
         {{"axis", std::int64_t{1}}, {"num_outputs", std::int64_t{2}}});
  return m.bytes();
}

}  // namespace onnx_models
