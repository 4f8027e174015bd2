// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/pad/onnx.hpp - padding and unpadding of sequences, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/sequence/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void lower_sequence_pad(onnx_operator& op) {
  const sequence_positions at = positions_in(op, "X");
  const std::int64_t steps = op.integer("padded_length", -1);
  const auto [row, holds] =
      padded_positions(op, at, steps < 0 ? longest(op, at.lengths) : op.list({steps}));
  std::string mask = holds;
  for (int d = 1; d < op.rank("X"); ++d) mask = column(op, mask);
  op.out("Out", "Where", {mask, gathered(op, op.in("X"), row), op.in("PadValue")});
  if (op.wants("Length"))
    op.out("Length", op.rank("Length") == 1 ? at.lengths : column(op, at.lengths));
}
inline void lower_sequence_unpad(onnx_operator& op) {
  const std::string &lengths = op.reshape(op.in("Length"), {-1}), &x = op.in("X");
  const sequence_positions at = positions_of(op, lengths);
  const std::string& position =
      op.node("Concat", {column(op, at.id), column(op, at.position)}, {{"axis", 1}});
  op.out("Out", "GatherND", {x, position});
  op.program().set_lengths(op.name_of_output("Out"), lengths);
}
inline void lower_sequence_mask(onnx_operator& op) {
  const std::int64_t most = op.integer("maxlen", -1);
  const std::string& n = op.cast(op.in("X"), dtype::int64);
  const std::string& step = counting(op, most < 0 ? longest(op, n) : op.list({most}));
  const std::string& mask = op.cast(op.node("Less", {step, column(op, n)}), op.type_of("Y"));
  if (op.rank("Y") == op.rank("X") + 1) return op.out("Y", mask);
  op.out("Y", "Squeeze", {mask, op.list({op.rank("X") - 1})});
}

inline void add_sequence_pad(onnx_operators& to) {
  to.add("sequence_pad", lower_sequence_pad);
  to.add("sequence_unpad", lower_sequence_unpad);
  to.add("sequence_mask", lower_sequence_mask);
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
