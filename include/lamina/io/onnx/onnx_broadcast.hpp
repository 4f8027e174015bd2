// SPDX-License-Identifier: Apache-2.0
// lamina/io/onnx/onnx_broadcast.hpp - operators with two operands whose shapes differ.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// Returns the value in a slot, reshaped so that ONNX broadcasts it against X. Fluid aligns the
/// dimensions of Y, without trailing ones, with those of X beginning at `axis`; ONNX aligns the
/// last dimensions.
inline std::string aligned(onnx_operator& op, const char* slot = "Y") {
  const std::string& y = op.in(slot);
  const int rank = op.rank(slot), axis = static_cast<int>(op.integer("axis", -1));
  const int at = axis < 0 ? op.rank("X") - rank : axis;
  const int positions = op.rank("X") - at;
  if (at < 0 || rank == positions) return y;
  std::vector<std::int64_t> axes;
  for (int i = rank; i < positions; ++i) axes.push_back(i);
  if (rank < positions) return op.node("Unsqueeze", {y, op.list(axes)});
  for (int i = positions; i < rank; ++i) axes.push_back(i);
  return op.node("Squeeze", {y, op.list(axes)});
}
inline onnx_lowering of_two(const char* type) {
  return [type](onnx_operator& op) { op.out("Out", type, {op.in("X"), aligned(op)}); };
}
/// Adds an operator of X and Y that means the same as a node, for both directions. `is_truth`: the
/// results are booleans.
inline void add_same_of_two(onnx_operators& to, const char* type, const char* node,
                            bool is_truth = false) {
  to.add(type, of_two(node));
  to.add_node(node, [type, is_truth](onnx_import_node& n) {
    n.out(n.binary(type, n.in(0), n.second_operand(), is_truth ? dtype::boolean : n.in(0).type));
  });
}
inline onnx_lowering logical(const char* type) {
  return [type](onnx_operator& op) {
    std::vector<std::string> inputs;
    for (const char* slot : {"X", "Y"})
      if (op.has(slot))
        inputs.push_back(op.type_of(slot) == dtype::boolean ? op.in(slot)
                                                            : op.cast(op.in(slot), dtype::boolean));
    op.out("Out", type, inputs);
  };
}

}}}  // namespace lamina::onnx
