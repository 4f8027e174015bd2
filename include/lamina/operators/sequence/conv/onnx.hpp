// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/conv/onnx.hpp - convolutions over sequences, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/sequence/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void lower_sequence_conv(onnx_operator& op) {
  const sequence_positions at = positions_in(op, "X");
  const std::int64_t start = op.integer("contextStart"), length = op.integer("contextLength");
  if (op.integer("contextStride", 1) != 1) op.fail("expected contextStride 1");
  const bool trained = op.flag("paddingTrainable") && op.has("PaddingData");
  const std::int64_t before = start < 0 ? -start : 0;
  std::vector<std::string> window;
  for (std::int64_t j = 0; j < length; ++j) {
    const shifted_rows s = shifted(op, at, op.in("X"), start + j);
    std::string outside = op.number(0, op.type_of("X"));
    if (trained && start + j != 0) {
      // Padding rows before a sequence count backwards from the middle of PaddingData, rows after
      // it count forwards.
      const std::string& behind =
          op.node("Max", {op.node("Sub", {s.position, s.length}), op.whole(-before)});
      const std::string& row = op.node(
          "Add",
          {start + j < 0 ? op.node("Min", {s.position, op.whole(-1)}) : behind, op.whole(before)});
      const std::string& free =
          op.node("Where", {op.node("Squeeze", {s.is_inside, op.list({1})}), op.whole(0), row});
      outside = gathered(op, op.in("PaddingData"), free);
    }
    window.push_back(op.node("Where", {s.is_inside, s.values, outside}));
  }
  const std::string& all =
      window.size() == 1 ? window[0] : op.node("Concat", window, {{"axis", 1}});
  op.out("Out", "MatMul", {all, op.in("Filter")});
}

inline void lower_row_conv(onnx_operator& op) {
  const sequence_positions at = positions_in(op, "X");
  std::vector<std::string> parts;
  for (std::int64_t j = 0; j < op.extent("Filter", 0); ++j) {
    const shifted_rows s = shifted(op, at, op.in("X"), j);
    const std::string& row = op.node("Gather", {op.in("Filter"), op.list({j})}, {{"axis", 0}});
    parts.push_back(op.node(
        "Mul", {op.node("Where", {s.is_inside, s.values, op.number(0, op.type_of("X"))}), row}));
  }
  op.out("Out", "Sum", parts);
}

inline void add_sequence_conv(onnx_operators& to) {
  to.add("sequence_conv", lower_sequence_conv);
  to.add("row_conv", lower_row_conv);
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
