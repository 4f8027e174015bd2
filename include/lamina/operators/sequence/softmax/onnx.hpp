// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/softmax/onnx.hpp - softmax over each sequence, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <string>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/sequence/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void lower_sequence_softmax(onnx_operator& op) {
  const sequence_positions at = positions_in(op, "X");
  const std::string& most = of_each_sequence(op, at, op.in("X"), "max", lowest);
  const std::string& e = op.node("Exp", {op.node("Sub", {op.in("X"), gathered(op, most, at.id)})});
  const std::string& sum = of_each_sequence(op, at, e, "add", 0);
  op.out("Out", "Div", {e, gathered(op, sum, at.id)});
}

inline void add_sequence_softmax(onnx_operators& to) {
  to.add("sequence_softmax", lower_sequence_softmax);
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
