// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/onnx.hpp - values of variables and branches, for loops and conditionals
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

/// The maximal number of loop steps that are unrolled in the graph.
inline constexpr int most_repeated_steps = 10000;
/// Reshapes a value of one element to rank 0, the rank of conditions.
inline const std::string& scalar(onnx_operator& op, const std::string& value) {
  return op.reshape(value, {});
}
/// The value of a variable or, if it has none yet, zeros with the given number of rows.
inline std::string value_or_zeros(onnx_program& p, const std::string& name, std::size_t rows = 0) {
  const std::string& found = p.value(name);
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

/// A graph that only returns values of the surrounding graph.
inline onnx_graph values_only(onnx_program& p, const std::string& name,
                              std::vector<onnx_value> values) {
  p.graph.open();
  return p.graph.close(name, {}, std::move(values));
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
