// SPDX-License-Identifier: Apache-2.0
// lamina/operators/matrix/mul/onnx.hpp - products over flattened dimensions, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

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

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
