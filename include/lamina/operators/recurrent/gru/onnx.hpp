// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/gru/onnx.hpp - gru as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/recurrent/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

/// Splits the weight of Fluid's gru and gru_unit, which stores a matrix [D, 2D] followed by a
/// matrix [D, D].
inline std::pair<std::string, std::string> gru_weights(onnx_operator& op, std::int64_t d) {
  const std::string &flat = op.reshape(op.in("Weight"), {-1}), &first = op.list({0});
  const std::string& gates = op.node("Slice", {flat, op.list({0}), op.list({2 * d * d}), first});
  const std::string& candidate =
      op.node("Slice", {flat, op.list({2 * d * d}), op.list({3 * d * d}), first});
  return {op.reshape(gates, {d, 2 * d}), op.reshape(candidate, {d, d})};
}

/// h = (1 - u) h' + u c equals ONNX's h = (1 - z) c + z h' with z = 1 - u. For a sigmoid, z is the
/// gate of the negated argument of u. With origin_mode, z is u.
inline void lower_gru(onnx_operator& op) {
  const std::int64_t d = op.extent("Weight", 0);
  const std::string &gate = function_named(op, "gate_activation", "sigmoid"),
                    &candidate = function_named(op, "activation", "tanh");
  const bool negates = !op.flag("origin_mode");
  if (negates && gate != "Sigmoid")
    op.fail("expected the gate sigmoid without origin_mode, found " + gate);
  const std::vector<std::int64_t> order{0, 1, 2};
  const std::vector<float> signs{negates ? -1.F : 1.F, 1, 1};
  padded_steps steps(op);
  const auto [gates, inner] = gru_weights(op, d);
  const std::string& weight = op.node("Concat", {gates, inner}, {{"axis", 1}});
  std::string bias;
  if (op.has("Bias"))
    bias = op.node("Concat", {blocks_of(op, op.in("Bias"), d, order, signs), no_bias(op, 3 * d)},
                   {{"axis", 1}});
  const std::string& y = op.node("GRU",
                                 {steps.input(), part_order(op, d, order, signs),
                                  recurrent_weight(op, blocks_of(op, weight, d, order, signs)),
                                  bias, steps.lengths(), with_direction(op, "H0")},
                                 {{"hidden_size", d},
                                  {"direction", direction_of(op)},
                                  {"activations", std::vector<std::string>{gate, candidate}}});
  steps.give("Hidden", y);
}

inline void add_recurrent_gru(onnx_operators& to) { to.add("gru", lower_gru); }

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
