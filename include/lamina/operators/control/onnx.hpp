// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/onnx.hpp - values of variables and of branches, for loops and branches
// as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

/// Most steps of a loop that is repeated in the graph.
inline constexpr int most_repeated_steps = 10000;
/// A value of one element without dimensions, as conditions are.
inline std::string scalar(onnx_operator& op, const std::string& value) {
  return op.reshape(value, {});
}
/// The value of a variable or, while it has none, zeros in its place, with so many rows.
inline std::string value_or_zeros(onnx_program& p, const std::string& name, std::size_t rows = 0) {
  const std::string found = p.value(name);
  if (!found.empty()) return found;
  const variable_message& v = p.variable(name);
  tensor_shape shape;
  for (const std::int64_t extent : v.dims)
    shape.push_back(extent < 0 ? rows : static_cast<std::size_t>(extent));
  return p.graph.constant(tensor::zeros(v.type, shape));
}
inline onnx_value typed(onnx_program& p, const std::string& variable, const std::string& value) {
  return {value, p.variable(variable).type, false, {}};
}

/// A graph that returns one or more values of the surrounding graph.
inline onnx_graph values_only(onnx_program& p, const std::string& name,
                              std::vector<onnx_value> values) {
  p.graph.open();
  return p.graph.close(name, {}, std::move(values));
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
