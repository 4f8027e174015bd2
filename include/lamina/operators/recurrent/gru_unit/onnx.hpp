// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/gru_unit/onnx.hpp - one step of a gru, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/recurrent/gru/onnx.hpp>
#include <lamina/operators/recurrent/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

/// Applies the activation function with gru_unit's number for it.
inline const std::string& apply_numbered(onnx_operator& op, std::int64_t function,
                                         const std::string& x) {
  const char* names[] = {"Identity", "Sigmoid", "Tanh", "Relu"};
  if (function < 0 || function > 3)
    op.fail("expected a function from 0 to 3, found " + std::to_string(function));
  return op.node(names[function], {x});
}
inline void lower_gru_unit(onnx_operator& op) {
  const std::int64_t d = op.extent("Weight", 0), function = op.integer("gate_activation", 1);
  const auto [gates, inner] = gru_weights(op, d);
  const std::string& before = op.in("HiddenPrev");
  std::string x = op.in("Input");
  if (op.has("Bias")) x = op.node("Add", {x, op.in("Bias")});
  const std::string& sums =
      op.node("Add", {columns(op, x, 0, 2 * d), op.node("MatMul", {before, gates})});
  const std::string& u = apply_numbered(op, function, columns(op, sums, 0, d));
  const std::string& r = apply_numbered(op, function, columns(op, sums, d, 2 * d));
  const std::string& reset = op.node("Mul", {r, before});
  const std::string& c = apply_numbered(
      op, op.integer("activation", 2),
      op.node("Add", {columns(op, x, 2 * d, 3 * d), op.node("MatMul", {reset, inner})}));
  if (op.wants("Gate")) op.out("Gate", "Concat", {u, r, c}, {{"axis", 1}});
  if (op.wants("ResetHiddenPrev")) op.out("ResetHiddenPrev", reset);
  const bool origin = op.flag("origin_mode");
  const std::string& rest = op.node("Sub", {op.number(1), u});
  op.out("Hidden", "Add",
         {op.node("Mul", {origin ? u : rest, before}), op.node("Mul", {origin ? rest : u, c})});
}

inline void add_recurrent_gru_unit(onnx_operators& to) { to.add("gru_unit", lower_gru_unit); }

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
