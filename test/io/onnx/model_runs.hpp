// SPDX-License-Identifier: Apache-2.0
// test/io/onnx/model_runs.hpp - small ONNX models whose inputs, outputs and inner graphs a test
// chooses, and their results by load_onnx and the executor.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "io/onnx/model_bytes.hpp"
#include <executor/shared_executor.hpp>

#include <lamina/io/load_onnx.hpp>

namespace model_runs {

using lamina::dtype;
using lamina::onnx_graph;
using lamina::onnx_node;
using lamina::tensor;
using lamina::tensor_shape;
using model_bytes::maker;
using model_bytes::value;

/// A graph, node by node.
struct graph_of {
  onnx_graph graph{};

  graph_of(std::vector<lamina::onnx_value> inputs, std::vector<lamina::onnx_value> outputs) {
    graph.inputs = std::move(inputs);
    graph.outputs = std::move(outputs);
  }
  graph_of& node(const char* type, lamina::onnx_names inputs, lamina::onnx_names outputs,
                 const lamina::onnx_attributes& attributes = {}) {
    graph.nodes.push_back(onnx_node(type, inputs, outputs, attributes));
    return *this;
  }
};
inline lamina::onnx_value whole(const char* name) { return value(name, {}, dtype::int64); }
inline lamina::onnx_value truth(const char* name) { return value(name, {}, dtype::boolean); }
/// An output of a graph, of which nothing is stated.
inline lamina::onnx_value any(const char* name) {
  lamina::onnx_value made = value(name, {});
  made.has_shape = false;
  return made;
}

inline tensor floats(const tensor_shape& shape, const std::vector<float>& numbers) {
  return tensor(shape, numbers);
}
inline tensor one(std::int64_t n) { return tensor({1}, std::vector<std::int64_t>{n}); }
inline tensor one(bool holds) { return tensor::filled<bool>({1}, holds); }

/// A model whose inputs and outputs a test chooses.
struct model : maker {
  model(std::vector<lamina::onnx_value> inputs, std::vector<lamina::onnx_value> outputs) {
    graph.inputs = std::move(inputs);
    graph.outputs = std::move(outputs);
  }
  std::vector<lamina::lod_tensor> run(const lamina::feed_map& feed,
                                      const lamina::run_options& options = {}) const {
    const lamina::inference_model m = lamina::from_onnx(bytes(), "net.onnx");
    lamina::executor executor;
    return executor.run(m.program, *m.variables, feed, options);
  }
  /// The number of operators of a type in block 0.
  std::size_t count(const std::string& type) const {
    const lamina::inference_model m = lamina::from_onnx(bytes(), "net.onnx");
    std::size_t n = 0;
    for (const lamina::operator_message& op : m.program.message().blocks[0].operators)
      n += op.type == type ? 1 : 0;
    return n;
  }
  std::string failure() const {
    try {
      (void)lamina::from_onnx(bytes(), "net.onnx");
    } catch (const lamina::format_error& e) {
      return e.what();
    }
    return "loaded";
  }
};

inline std::vector<float> numbers(const tensor& value) {
  const auto all = value.cast<float>();
  return std::vector<float>(all.begin(), all.end());
}

}  // namespace model_runs
