// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/lstm_unit/onnx.hpp - one step of an lstm, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>

#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/recurrent/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void lower_lstm_unit(onnx_operator& op) {
  const std::int64_t d = op.extent("C_prev", 1);
  const auto part = [&](std::int64_t k) { return columns(op, op.in("X"), k * d, (k + 1) * d); };
  const std::string& i = op.node("Sigmoid", {part(0)});
  const std::string& f = op.node("Sigmoid", {affine(op, part(1), 1, op.real("forget_bias"))});
  const std::string &o = op.node("Sigmoid", {part(2)}), &g = op.node("Tanh", {part(3)});
  const std::string& c =
      op.node("Add", {op.node("Mul", {op.in("C_prev"), f}), op.node("Mul", {i, g})});
  op.out("C", c);
  op.out("H", "Mul", {op.node("Tanh", {c}), o});
}

inline void add_recurrent_lstm_unit(onnx_operators& to) { to.add("lstm_unit", lower_lstm_unit); }

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
