// SPDX-License-Identifier: Apache-2.0
// lamina/operators/matrix/matmul/onnx.hpp - products of matrices, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline const std::string& transposed(onnx_operator& op, const char* slot, bool wanted) {
  const int rank = op.rank(slot);
  if (!wanted || rank < 2) return op.in(slot);
  std::vector<std::int64_t> order;
  for (int d = 0; d < rank; ++d) order.push_back(d);
  std::swap(order[static_cast<std::size_t>(rank - 2)], order[static_cast<std::size_t>(rank - 1)]);
  return op.node("Transpose", {op.in(slot)}, {{"perm", order}});
}
inline void lower_matmul(onnx_operator& op) {
  const std::string& x = transposed(op, "X", op.flag("transpose_X") || op.flag("trans_x"));
  const std::string& y = transposed(op, "Y", op.flag("transpose_Y") || op.flag("trans_y"));
  op.out("Out", affine(op, op.node("MatMul", {x, y}), op.real("alpha", 1), 0));
}

inline void add_matrix_matmul(onnx_operators& to) {
  to.add("matmul", lower_matmul);
  to.add("matmul_v2", lower_matmul);
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
