// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/ctc/onnx.hpp - the labels of a path, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <string>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/sequence/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void lower_ctc_align(onnx_operator& op) {
  const sequence_positions at = positions_in(op, "Input");
  const std::string& x = op.reshape(op.in("Input"), {-1});
  std::string stays = differs(op, x, op.integer("blank"), op.type_of("Input"));
  if (op.flag("merge_repeated", true)) {
    const shifted_rows before = shifted(op, at, x, -1);
    const std::string& repeats =
        op.node("And", {op.reshape(before.is_inside, {-1}), op.node("Equal", {x, before.values})});
    stays = op.node("And", {stays, op.node("Not", {repeats})});
  }
  keep_rows(op, "Output", at, op.in("Input"), stays);
}

inline void add_loss_ctc(onnx_operators& to) { to.add("ctc_align", lower_ctc_align); }

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
