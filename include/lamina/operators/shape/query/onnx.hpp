// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/query/onnx.hpp - shapes and coordinates as values, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void lower_is_empty(onnx_operator& op) {
  const std::string& size = op.node("Size", {op.in("X")});
  op.out("Out", "Equal", {op.reshape(size, {1}), op.list({0})});
}

/// Arranges the coordinates as columns; the elements of each row form a sequence.
inline void lower_where(onnx_operator& op) {
  const std::string& truth = op.cast(op.in("Condition"), dtype::boolean);
  op.out("Out", "Transpose", {op.node("NonZero", {truth})});
  std::vector<std::int64_t> inner;
  for (int d = 1; d < op.rank("Condition"); ++d) inner.push_back(d);
  const std::string& count = op.cast(truth, dtype::int64);
  op.program().set_lengths(
      op.name_of_output("Out"),
      inner.empty() ? count : op.node("ReduceSum", {count, op.list(inner)}, {{"keepdims", 0}}));
}

inline void lower_range(onnx_operator& op) {
  const auto number = [&](const char* slot) {
    return op.node("Squeeze", {op.in(slot), op.list({0})});
  };
  op.out("Out", "Range", {number("Start"), number("End"), number("Step")});
}

inline void add_shape_query(onnx_operators& to) {
  to.add("shape", [](onnx_operator& op) {
    op.out("Out", op.cast(op.node("Shape", {op.in("Input")}), op.type_of("Out")));
  });
  to.add("is_empty", lower_is_empty);
  to.add("where_index", lower_where);
  to.add("range", lower_range);
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
