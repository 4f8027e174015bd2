// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/pointwise/onnx.hpp - costs of elements, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <string>

#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/loss/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

/// 2 * label - 1: 1 for label 1, -1 for label 0.
inline std::string side_of(onnx_operator& op, const char* slot) {
  return affine(op, op.in(slot), 2, -1);
}

/// log(1 + e^x) - x * label. |x| is multiplied by 1 - label if x > 0, else by label, so that no
/// large numbers are subtracted.
inline const std::string& binary_cost(onnx_operator& op, const std::string& x,
                                      const std::string& label) {
  const std::string& size = op.node("Abs", {x});
  const std::string& away =
      choose(op, op.node("Greater", {x, op.number(0)}), affine(op, label, -1, 1), label);
  return op.node("Add", {weighted(op, away, size), softplus(op, op.node("Neg", {size}))});
}

inline void lower_sigmoid_cross_entropy(onnx_operator& op) {
  const std::string &x = op.in("X"), &label = op.in("Label");
  const std::string& ignored =
      op.node("Equal", {label, op.number(static_cast<double>(op.integer("ignore_index", -100)))});
  std::string cost = choose(op, ignored, op.number(0), binary_cost(op, x, label));
  if (op.flag("normalize")) {
    const std::string& counted = op.cast(op.node("Not", {ignored}), op.real_type());
    const std::string& n = op.node("ReduceSum", {counted}, {{"keepdims", 0}});
    cost = op.node("Div", {cost, op.node("Max", {n, op.number(1)})});
  }
  op.out("Out", cost);
}

inline void lower_log_loss(onnx_operator& op) {
  const std::string &p = op.in("Predicted"), &label = op.in("Labels");
  const double epsilon = op.real("epsilon");
  const std::string& yes = weighted(op, label, op.node("Log", {affine(op, p, 1, epsilon)}));
  const std::string& no = weighted(op, affine(op, label, -1, 1),
                                   op.node("Log", {affine(op, affine(op, p, -1, 1), 1, epsilon)}));
  op.out("Loss", "Neg", {op.node("Add", {yes, no})});
}

inline void lower_huber_loss(onnx_operator& op) {
  const double delta = op.real("delta");
  const std::string &r = op.node("Sub", {op.in("Y"), op.in("X")}), &size = op.node("Abs", {r});
  if (op.wants("Residual")) op.out("Residual", r);
  op.out("Out",
         choose(op, op.node("LessOrEqual", {size, op.number(delta)}),
                affine(op, square(op, r), 0.5, 0), affine(op, size, delta, -0.5 * delta * delta)));
}

inline void lower_modified_huber_loss(onnx_operator& op) {
  const std::string& v = op.node("Mul", {op.in("X"), side_of(op, "Y")});
  if (op.wants("IntermediateVal")) op.out("IntermediateVal", v);
  const std::string& nearby = square(op, op.node("Relu", {affine(op, v, -1, 1)}));
  op.out("Out", choose(op, op.node("Less", {v, op.number(-1)}), affine(op, v, -4, 0), nearby));
}

inline void lower_margin_rank_loss(onnx_operator& op) {
  const std::string& gap = op.node("Sub", {op.in("X1"), op.in("X2")});
  const std::string& signed_gap = op.node("Mul", {op.in("Label"), gap});
  const std::string& cost = op.node("Relu", {affine(op, signed_gap, -1, op.real("margin"))});
  if (op.wants("Activated")) op.out("Activated", "Sign", {cost});
  op.out("Out", cost);
}

inline void add_loss_pointwise(onnx_operators& to) {
  to.add("sigmoid_cross_entropy_with_logits", lower_sigmoid_cross_entropy);
  to.add("log_loss", lower_log_loss);
  to.add("hinge_loss", [](onnx_operator& op) {
    const std::string& v = op.node("Mul", {op.in("Logits"), side_of(op, "Labels")});
    op.out("Loss", "Relu", {affine(op, v, -1, 1)});
  });
  to.add("huber_loss", lower_huber_loss);
  to.add("modified_huber_loss", lower_modified_huber_loss);
  to.add("rank_loss", [](onnx_operator& op) {
    const std::string& d = op.node("Sub", {op.in("Left"), op.in("Right")});
    op.out("Out", binary_cost(op, d, op.in("Label")));
  });
  to.add("margin_rank_loss", lower_margin_rank_loss);
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
