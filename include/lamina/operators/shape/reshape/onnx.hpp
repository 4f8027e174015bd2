// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/reshape/onnx.hpp - operators that change the shape or permute dimensions,
// as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void lower_reshape(onnx_operator& op) {
  if (op.has("Shape") || op.has("ShapeTensor"))
    op.fail("expected a shape as attribute, found one in a variable");
  op.out("Out", "Reshape", {op.in("X"), op.list(op.integers("shape"))});
}

/// Removes `axes` or, if it is empty, all dimensions of extent 1.
inline void lower_squeeze(onnx_operator& op) {
  std::vector<std::int64_t> axes = op.integers("axes");
  const std::vector<std::int64_t>& dims = op.dims("X");
  for (std::size_t d = 0; d < dims.size() && op.integers("axes").empty(); ++d)
    if (dims[d] == 1) axes.push_back(static_cast<std::int64_t>(d));
  op.out("Out", "Squeeze", {op.in("X"), op.list(axes)});
}

inline void add_shape_reshape(onnx_operators& to) {
  to.add("reshape2", lower_reshape);
  to.add("transpose2", [](onnx_operator& op) {
    op.out("Out", "Transpose", {op.in("X")}, {{"perm", op.integers("axis")}});
  });
  to.add("squeeze2", lower_squeeze);
  to.add("unsqueeze2", [](onnx_operator& op) {
    op.out("Out", "Unsqueeze", {op.in("X"), op.list(op.integers("axes"))});
  });
  to.add("flatten2", [](onnx_operator& op) {
    op.out("Out", "Flatten", {op.in("X")}, {{"axis", op.integer("axis", 1)}});
  });
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
