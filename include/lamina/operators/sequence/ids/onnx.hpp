// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/ids/onnx.hpp - sequences of ids, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/sequence/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void lower_sequence_enumerate(onnx_operator& op) {
  const sequence_positions at = positions_in(op, "X");
  const std::string& pad = op.number(static_cast<double>(op.integer("pad_value")), op.type_of("X"));
  std::vector<std::string> window;
  for (std::int64_t j = 0; j < op.integer("win_size", 1); ++j) {
    const shifted_rows s = shifted(op, at, op.in("X"), j);
    window.push_back(op.node("Where", {s.is_inside, s.values, pad}));
  }
  op.out("Out", "Concat", window, {{"axis", 1}});
}

inline void lower_sequence_erase(onnx_operator& op) {
  const sequence_positions at = positions_in(op, "X");
  const std::string& x = op.reshape(op.in("X"), {-1});
  std::string stays = op.node("GreaterOrEqual", {at.position, op.whole(0)});
  for (const std::int64_t token : op.integers("tokens"))
    stays = op.node("And", {stays, differs(op, x, token, op.type_of("X"))});
  keep_rows(op, "Out", at, op.in("X"), stays);
}

inline void lower_sequence_scatter(onnx_operator& op) {
  const sequence_positions at = positions_in(op, "Ids");
  const std::string& ids = op.reshape(op.cast(op.in("Ids"), dtype::int64), {-1, 1});
  const std::string& to = op.node("Concat", {column(op, at.id), ids}, {{"axis", 1}});
  op.out("Out", "ScatterND", {op.in("X"), to, op.reshape(op.in("Updates"), {-1})},
         {{"reduction", "add"}});
}

inline void add_sequence_ids(onnx_operators& to) {
  to.add("sequence_enumerate", lower_sequence_enumerate);
  to.add("sequence_erase", lower_sequence_erase);
  to.add("sequence_scatter", lower_sequence_scatter);
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
