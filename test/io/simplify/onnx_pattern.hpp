// SPDX-License-Identifier: Apache-2.0
// test/io/simplify/onnx_pattern.hpp - small ONNX graphs, loaded with and without simplification.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "io/onnx/model_bytes.hpp"
#include <catch2/catch.hpp>
#include <executor/shared_executor.hpp>

#include <lamina/core/numbers/philox.hpp>
#include <lamina/io/load_onnx.hpp>
#include <lamina/plan/real_type.hpp>

namespace onnx_pattern {

using dims = std::vector<std::int64_t>;

/// Numbers that differ, between -2 and 2.
inline lamina::tensor counted(const lamina::tensor_shape& shape, lamina::dtype type) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < lamina::size_of(shape); ++i)
    numbers.push_back(static_cast<double>((i * 7919 + 13) % 401) / 100.25 - 2);
  return lamina::tensor(shape, numbers).cast(type);
}

/// The difference of two programs' results, divided by the largest element, or 1.
inline double difference(const std::vector<lamina::lod_tensor>& a,
                         const std::vector<lamina::lod_tensor>& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    REQUIRE(a[i].shape() == b[i].shape());
    REQUIRE(a[i].type() == b[i].type());
    const auto x = a[i].cast<double>(), y = b[i].cast<double>();
    double largest = 1;
    for (std::size_t k = 0; k < x.size(); ++k)
      if (std::isfinite(x.flat(k))) largest = std::max(largest, std::abs(x.flat(k)));
    for (std::size_t k = 0; k < x.size(); ++k) {
      const bool both = x.flat(k) == y.flat(k) || (std::isnan(x.flat(k)) && std::isnan(y.flat(k)));
      if (!both) worst = std::max(worst, std::abs(x.flat(k) - y.flat(k)) / largest);
      if (!both && std::isnan(x.flat(k)) != std::isnan(y.flat(k))) worst = 1e300;
    }
  }
  return worst;
}

/// What a loaded graph consists of.
struct outcome {
  lamina::inference_model model;
  lamina::simplify_report report{};
  std::map<std::string, int> types{};
  std::vector<lamina::lod_tensor> results{};

  int count(const char* type) const {
    const auto found = types.find(type);
    return found == types.end() ? 0 : found->second;
  }
};

/// A graph with the input x and the output y, and its constants.
struct graph : model_bytes::maker {
  std::deque<lamina::tensor> constants{};
  dims of_x;
  lamina::dtype type;

  explicit graph(dims x, lamina::dtype t = lamina::dtype::float32) : of_x(std::move(x)), type(t) {
    opset = 17;
    maker::graph.inputs[0] = model_bytes::value("x", of_x, type);
    maker::graph.outputs[0] = model_bytes::value("y", of_x, type);
  }
  graph& of(const char* name, dims shape, const std::vector<double>& values) {
    const lamina::tensor_shape s(shape.begin(), shape.end());
    constants.push_back(lamina::tensor(s, values).cast(type));
    maker::graph.initializers.emplace_back(name, &constants.back());
    return *this;
  }
  graph& number(const char* name, double value) { return of(name, {}, {value}); }
  graph& counted(const char* name, dims shape, double scale = 1, double bias = 0) {
    const lamina::tensor_shape s(shape.begin(), shape.end());
    const auto values = onnx_pattern::counted(s, lamina::dtype::float64).cast<double>();
    std::vector<double> all;
    for (const double v : values) all.push_back(v * scale + bias);
    return of(name, std::move(shape), all);
  }
  graph& integers(const char* name, const std::vector<std::int64_t>& values) {
    constants.emplace_back(lamina::tensor_shape{values.size()}, values);
    maker::graph.initializers.emplace_back(name, &constants.back());
    return *this;
  }
  graph& add(const char* t, lamina::onnx_names in, lamina::onnx_names out,
             const lamina::onnx_attributes& attributes = {}) {
    node(t, std::move(in), std::move(out), attributes);
    return *this;
  }
  graph& also(const char* name) {
    maker::graph.outputs.push_back(model_bytes::value(name, of_x, type));
    return *this;
  }

  outcome load(const lamina::simplify_options& simplify) const {
    lamina::simplify_report report;
    lamina::onnx_load_options options;
    options.simplify = simplify;
    options.simplify.report = &report;
    outcome made{lamina::from_onnx(bytes(), "net.onnx", options)};
    made.report = report;
    for (const lamina::operator_message& op : made.model.program.message().blocks[0].operators)
      ++made.types[op.type];
    lamina::tensor_shape shape;
    for (const std::int64_t d : of_x) shape.push_back(d < 0 ? 2 : static_cast<std::size_t>(d));
    const lamina::feed_map feed{{"x", lamina::lod_tensor(onnx_pattern::counted(shape, type))}};
    if (type == lamina::dtype::float64)
      made.results =
          lamina::basic_executor<double>().run(made.model.program, *made.model.variables, feed);
    else
      made.results = lamina::executor().run(made.model.program, *made.model.variables, feed);
    return made;
  }
  /// Loads the graph, simplified, and requires the results that it has without simplification.
  outcome simplified(const lamina::simplify_options& simplify = {}) const {
    const outcome plain = load(lamina::simplify_options::none());
    outcome made = load(simplify);
    CHECK(difference(plain.results, made.results) <
          (type == lamina::dtype::float64 ? 1e-12 : 1e-5));
    CHECK(made.report.operators_after <= made.report.operators_before);
    return made;
  }
};

}  // namespace onnx_pattern
