// SPDX-License-Identifier: Apache-2.0
// test/io/onnx/model_bytes.hpp - the bytes of small ONNX models for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <lamina/io/onnx/onnx_message.hpp>

namespace model_bytes {

/// A float value [dims]; -1: known at run time.
inline lamina::onnx_value value(const char* name, const std::vector<std::int64_t>& dims,
                                lamina::dtype type = lamina::dtype::float32) {
  lamina::onnx_value made{name, type, true, {}};
  for (const std::int64_t d : dims) made.dims.push_back({d, d < 0 ? "batch" : ""});
  return made;
}

/// A model of nodes with an input x [-1, 3] and an output y.
struct maker {
  lamina::onnx_graph graph{};
  std::int64_t opset = 21;

  maker() {
    graph.inputs.push_back(value("x", {-1, 3}));
    graph.outputs.push_back(value("y", {-1, 3}));
  }
  maker& node(const char* type, lamina::onnx_names inputs, lamina::onnx_names outputs,
              const lamina::onnx_attributes& attributes = {}, const char* domain = "") {
    graph.nodes.push_back(lamina::onnx_node(type, inputs, outputs, attributes, domain));
    return *this;
  }
  std::string bytes() const {
    lamina::onnx_model model;
    model.graph = graph;
    model.ir_version = 10;
    model.opset = opset;
    return lamina::to_onnx(model);
  }
};

}  // namespace model_bytes
