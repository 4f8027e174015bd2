// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/cos_sim/onnx.hpp - cosines, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <string>

#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

/// Flattens all dimensions after the first one, so that each entry is one row.
inline std::string flat_rows(onnx_operator& op, const char* slot) {
  return op.rank(slot) == 2 ? op.in(slot)
                            : op.reshape(op.in(slot), {0, extents(op, slot, 1, op.rank(slot))});
}
inline void lower_cos_sim(onnx_operator& op) {
  const std::string &x = flat_rows(op, "X"), &y = flat_rows(op, "Y");
  const auto of_x = direction_of(op, x, {1}, 0), of_y = direction_of(op, y, {1}, 0);
  if (op.wants("XNorm")) op.out("XNorm", of_x.length);
  if (op.wants("YNorm")) op.out("YNorm", of_y.length);
  op.out("Out", "ReduceSum", {op.node("Mul", {of_x.direction, of_y.direction}), op.list({1})},
         {{"keepdims", 1}});
}

inline void add_norm_cos_sim(onnx_operators& to) { to.add("cos_sim", lower_cos_sim); }

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
