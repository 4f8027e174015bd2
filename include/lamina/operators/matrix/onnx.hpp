// SPDX-License-Identifier: Apache-2.0
// lamina/operators/matrix/onnx.hpp - operators of the family matrix, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

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

/// X * Y with both flattened to matrices; the result has the leading dimensions of X.
inline void lower_mul(onnx_operator& op) {
  const int x_rows = static_cast<int>(op.integer("x_num_col_dims", 1));
  const int y_rows = static_cast<int>(op.integer("y_num_col_dims", 1));
  std::string x = op.in("X"), y = op.in("Y");
  std::vector<std::int64_t> rows(static_cast<std::size_t>(x_rows), 0);  // 0 copies a dimension
  if (op.rank("X") != x_rows + 1) {
    std::vector<std::int64_t> shape = rows;
    shape.push_back(extents(op, "X", x_rows, op.rank("X")));
    x = op.reshape(x, shape);
  }
  if (y_rows == 1 && op.rank("Y") == 2) return op.out("Out", "MatMul", {x, y});
  const std::int64_t depth = extents(op, "Y", 0, y_rows);
  y = op.reshape(y, {depth, extents(op, "Y", y_rows, op.rank("Y"))});
  for (int d = y_rows; d < op.rank("Y"); ++d) rows.push_back(op.extent("Y", d));
  op.out("Out", "Reshape", {op.node("MatMul", {x, y}), op.list(rows)});
}

inline void add_matrix_mul(onnx_operators& to) { to.add("mul", lower_mul); }

}}}  // namespace lamina::onnx
