// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/cross_entropy/onnx.hpp - cross entropies, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>

#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

/// The cost of each row from the logarithms of its probabilities: minus the logarithm for its
/// label, 0 for an ignored label, or with soft labels minus the sum weighted by the labels.
inline void cost_of_labels(onnx_operator& op, const char* slot, const std::string& logs) {
  const std::string &label = op.in("Label"), &last = op.list({-1});
  if (op.flag("soft_label"))
    return op.out(slot, "Neg",
                  {op.node("ReduceSum", {weighted(op, label, logs), last}, {{"keepdims", 1}})});
  const dtype type = op.type_of("Label");
  const std::string& ignored = op.node(
      "Equal", {label, op.number(static_cast<double>(op.integer("ignore_index", -100)), type)});
  const std::string& index = op.node("Where", {ignored, op.number(0, type), label});
  const std::string& cost =
      op.node("Neg", {op.node("GatherElements", {logs, index}, {{"axis", -1}})});
  op.out(slot, "Where", {ignored, op.number(0), cost});
}

inline void lower_softmax_with_cross_entropy(onnx_operator& op) {
  const std::int64_t axis = op.integer("axis", -1);
  if (axis != -1 && axis != op.rank("Logits") - 1)
    op.fail("expected the classes in the last dimension, found axis " + std::to_string(axis));
  if (op.wants("Softmax")) op.out("Softmax", "Softmax", {op.in("Logits")}, {{"axis", -1}});
  cost_of_labels(op, "Loss", op.node("LogSoftmax", {op.in("Logits")}, {{"axis", -1}}));
}

inline void add_loss_cross_entropy(onnx_operators& to) {
  to.add("softmax_with_cross_entropy", lower_softmax_with_cross_entropy);
  to.add("cross_entropy", [](onnx_operator& op) {
    cost_of_labels(op, "Y", limited(op, op.node("Log", {op.in("X")}), -1e20, 1e20, op.real_type()));
  });
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
