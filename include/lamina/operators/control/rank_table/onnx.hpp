// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/rank_table/onnx.hpp - constants with as many rows as another variable,
// as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/fill/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void lower_fill_like(onnx_operator& op) {
  std::vector<std::int64_t> shape = op.integers("shape");
  const std::int64_t from = op.integer("input_dim_idx"), to = op.integer("output_dim_idx");
  std::vector<std::string> parts;
  if (to > 0) parts.push_back(op.list({shape.begin(), shape.begin() + to}));
  parts.push_back(op.node("Shape", {op.in("Input")}, {{"start", from}, {"end", from + 1}}));
  if (to + 1 < static_cast<std::int64_t>(shape.size()))
    parts.push_back(op.list({shape.begin() + to + 1, shape.end()}));
  const std::string& extents =
      parts.size() == 1 ? parts[0] : op.node("Concat", parts, {{"axis", 0}});
  const std::string& value =
      op.program().graph.constant(constant_of(op, {}).cast(op.type_of("Out")));
  op.out("Out", "Expand", {value, extents});
}

inline void add_control_rank_table(onnx_operators& to) {
  to.add("fill_constant_batch_size_like", lower_fill_like);
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
