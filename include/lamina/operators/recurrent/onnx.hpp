// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/onnx.hpp - operators of the family recurrent, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/sequence/onnx.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

// Fluid's lstm and gru take the product of their input and a matrix; ONNX's operators compute this
// product themselves. So the ONNX operators get a matrix that only reorders the gates.

/// ONNX's name for the activation function of a gate.
inline std::string function_named(onnx_operator& op, const char* attribute, const char* otherwise) {
  const std::string& name = op.string(attribute, otherwise);
  for (const auto& [ours, theirs] :
       {std::pair{"sigmoid", "Sigmoid"}, {"tanh", "Tanh"}, {"relu", "Relu"}})
    if (name == ours) return theirs;
  op.fail("expected sigmoid, tanh or relu as " + std::string(attribute) + ", found " + name);
}

/// A matrix [parts * size, parts * size] that reorders slices: slice k of the result is slice
/// from[k] of the input, times sign[k]. It is a value [1, ...] of the input's type.
inline std::string part_order(onnx_operator& op, std::int64_t size,
                              const std::vector<std::int64_t>& from,
                              const std::vector<float>& sign) {
  const std::size_t d = static_cast<std::size_t>(size), n = from.size() * d;
  std::vector<float> w(n * n, 0.F);
  for (std::size_t k = 0; k < from.size(); ++k)
    for (std::size_t i = 0; i < d; ++i)
      w[(k * d + i) * n + static_cast<std::size_t>(from[k]) * d + i] = sign[k];
  return op.program().graph.constant(tensor({1, n, n}, w).cast(op.type_of("Input")));
}
/// Zeros [1, size] of the input's type: the bias of the recurrent product, which Fluid lacks.
inline std::string no_bias(onnx_operator& op, std::int64_t size) {
  return op.program().graph.constant(
      tensor::zeros(op.type_of("Input"), {1, static_cast<std::size_t>(size)}));
}
/// The columns [first, end) of a matrix.
inline const std::string& columns(onnx_operator& op, const std::string& x, std::int64_t first,
                                  std::int64_t end) {
  return op.node("Slice", {x, op.list({first}), op.list({end}), op.list({1})});
}
/// Reorders blocks of `size` columns.
inline const std::string& blocks_of(onnx_operator& op, const std::string& x, std::int64_t size,
                                    const std::vector<std::int64_t>& from,
                                    const std::vector<float>& sign) {
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < from.size(); ++k) {
    const std::string& part = columns(op, x, from[k] * size, (from[k] + 1) * size);
    parts.push_back(sign[k] < 0 ? op.node("Neg", {part}) : part);
  }
  return op.node("Concat", parts, {{"axis", 1}});
}
/// Transposes a weight [D, parts * D] to ONNX's layout [1, parts * D, D].
inline const std::string& recurrent_weight(onnx_operator& op, const std::string& x) {
  return op.node(
      "Unsqueeze",
      {op.node("Transpose", {x}, {{"perm", std::vector<std::int64_t>{1, 0}}}), op.list({0})});
}
inline std::string with_direction(onnx_operator& op, const char* slot) {
  return op.has(slot) ? op.node("Unsqueeze", {op.in(slot), op.list({0})}) : std::string();
}

/// Runs an ONNX operator over padded steps [steps, sequences, ...], and copies the rows of its
/// result back to the rows of sequences.
class padded_steps {
 public:
  explicit padded_steps(onnx_operator& op)
      : op_(op), at_(positions_in(op, "Input")), steps_(longest(op, at_.lengths)) {}

  /// The input in the layout of ONNX, with zeros after the end of each sequence, and the lengths of
  /// sequences.
  std::string input() {
    const auto [row, holds] = padded_positions(op_, at_, steps_);
    const std::string& x = gathered(op_, op_.in("Input"), row);
    const std::string& zero =
        op_.node("Where", {column(op_, holds), x, op_.number(0, op_.type_of("Input"))});
    return op_.node("Transpose", {zero}, {{"perm", std::vector<std::int64_t>{1, 0, 2}}});
  }
  std::string lengths() { return op_.cast(at_.lengths, dtype::int32); }
  /// Converts Y [steps, 1, sequences, size] to rows.
  void give(const char* slot, const std::string& y) {
    const std::string& position =
        op_.node("Concat", {column(op_, at_.position), column(op_, at_.id)}, {{"axis", 1}});
    op_.out(slot, "GatherND", {op_.node("Squeeze", {y, op_.list({1})}), position});
  }

 private:
  onnx_operator& op_;
  sequence_positions at_;
  std::string steps_;
};
inline const char* direction_of(const onnx_operator& op) {
  return op.flag("is_reverse") ? "reverse" : "forward";
}

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

}}}  // namespace lamina::onnx
