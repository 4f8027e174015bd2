// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/onnx.hpp - activation functions, weights and steps of recurrent
// operators as ONNX nodes.
//
// Fluid's lstm and gru take the product of their input and a matrix; ONNX's operators compute this
// product themselves. So the ONNX operators get a matrix that only reorders the gates.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/sequence/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

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

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
