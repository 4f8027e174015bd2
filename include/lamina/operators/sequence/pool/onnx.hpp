// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/pool/onnx.hpp - pooling of the rows of each sequence into one row, as
// ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/sequence/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

/// Adds dimensions to values [sequences], so that rows of any rank can be compared with or divided
/// by them.
inline std::string beside_rows(onnx_operator& op, const std::string& x, int rank) {
  std::vector<std::int64_t> axes;
  for (int d = 1; d < rank; ++d) axes.push_back(d);
  return axes.empty() ? x : op.node("Unsqueeze", {x, op.list(axes)});
}

inline void lower_sequence_pool(onnx_operator& op) {
  if (op.wants("MaxIndex"))
    op.fail("expected that nothing reads MaxIndex, which ONNX does not have");
  const std::string &kind = op.string("pooltype", "AVERAGE"), &x = op.in("X");
  const sequence_positions at = positions_in(op, "X");
  const dtype type = op.type_of("X");
  std::string y;
  if (kind == "FIRST" || kind == "LAST") {
    const std::string &end = op.node("Add", {at.starts, at.lengths}), &one = op.whole(1);
    // An empty sequence may begin after the last row; its row is replaced below.
    const std::string& row = kind == "LAST"
                                 ? op.node("Max", {op.node("Sub", {end, one}), op.whole(0)})
                                 : op.node("Min", {at.starts, op.node("Sub", {at.rows, one})});
    y = gathered(op, x, row);
  } else {
    y = of_each_sequence(op, at, x, kind == "MAX" ? "max" : "add", kind == "MAX" ? lowest : 0);
    if (kind == "AVERAGE" || kind == "SQRT") {
      std::string n = op.cast(at.lengths, type);
      if (kind == "SQRT") n = op.node("Sqrt", {n});
      y = op.node("Div", {y, beside_rows(op, n, op.rank("X"))});
    }
  }
  const std::string& is_empty =
      beside_rows(op, op.node("Equal", {at.lengths, op.whole(0)}), op.rank("X"));
  op.out("Out", "Where", {is_empty, op.number(op.real("pad_value"), type), y});
}

inline void add_sequence_pool(onnx_operators& to) { to.add("sequence_pool", lower_sequence_pool); }

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
