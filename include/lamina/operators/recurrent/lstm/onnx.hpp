// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/lstm/onnx.hpp - lstm as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/recurrent/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

/// Reorders the gates: Fluid stores n, i, f, o, ONNX i, o, f, n. Peepholes are i, f, o in Fluid and
/// i, o, f in ONNX.
inline void lower_lstm(onnx_operator& op) {
  if (op.wants("Cell"))
    op.fail("expected that nothing reads the cells of all steps, of which ONNX gives the last one");
  const std::int64_t d = op.extent("Weight", 0);
  const std::vector<std::int64_t> order{1, 3, 2, 0};
  const std::vector<float> signs(4, 1.F);
  const std::string &gate = function_named(op, "gate_activation", "sigmoid"),
                    &candidate = function_named(op, "candidate_activation", "tanh"),
                    &cell = function_named(op, "cell_activation", "tanh");
  padded_steps steps(op);
  const std::string& bias = op.node(
      "Concat", {blocks_of(op, op.in("Bias"), d, order, signs), no_bias(op, 4 * d)}, {{"axis", 1}});
  std::string peepholes;
  if (op.flag("use_peepholes", true))
    peepholes = blocks_of(op, columns(op, op.in("Bias"), 4 * d, 7 * d), d, {0, 2, 1}, {1, 1, 1});
  const std::string& y =
      op.node("LSTM",
              {steps.input(), part_order(op, d, order, signs),
               recurrent_weight(op, blocks_of(op, op.in("Weight"), d, order, signs)), bias,
               steps.lengths(), with_direction(op, "H0"), with_direction(op, "C0"), peepholes},
              {{"hidden_size", d},
               {"direction", direction_of(op)},
               {"activations", std::vector<std::string>{gate, candidate, cell}}});
  steps.give("Hidden", y);
}

inline void add_recurrent_lstm(onnx_operators& to) { to.add("lstm", lower_lstm); }

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
