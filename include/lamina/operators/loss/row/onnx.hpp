// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/row/onnx.hpp - costs of rows, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/loss/onnx.hpp>
#include <lamina/operators/reduce/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void lower_smooth_l1(onnx_operator& op) {
  std::string diff = op.node("Sub", {op.in("X"), op.in("Y")});
  if (op.has("InsideWeight")) diff = weighted(op, op.in("InsideWeight"), diff);
  if (op.wants("Diff")) op.out("Diff", diff);
  const double s2 = double(op.real("sigma", 1)) * double(op.real("sigma", 1));
  const std::string& size = op.node("Abs", {diff});
  std::string cost =
      choose(op, op.node("Less", {size, op.number(1 / s2)}),
             affine(op, square(op, diff), s2 / 2, 0), affine(op, size, 1, -0.5 / s2));
  if (op.has("OutsideWeight")) cost = weighted(op, op.in("OutsideWeight"), cost);
  std::vector<std::int64_t> axes;
  for (int d = 1; d < op.rank("X"); ++d) axes.push_back(d);
  const std::string& sum = op.node("ReduceSum", {cost, op.list(axes)}, {{"keepdims", 0}});
  op.out("Out", "Unsqueeze", {sum, op.list({1})});
}

inline void lower_kldiv(onnx_operator& op) {
  const std::string &t = op.in("Target"), &kind = op.string("reduction", "mean");
  const std::string& is_none = op.node("LessOrEqual", {t, op.number(0)});
  const std::string& logs = op.node("Log", {choose(op, is_none, op.number(1), t)});
  const std::string& each =
      choose(op, is_none, op.number(0), op.node("Mul", {t, op.node("Sub", {logs, op.in("X")})}));
  if (kind == "none") return op.out("Loss", each);
  std::string cost =
      op.node(kind == "mean" ? "ReduceMean" : "ReduceSum", {each}, {{"keepdims", 0}});
  if (kind == "batchmean") {
    const std::string& rows = op.node("Shape", {t}, {{"start", 0}, {"end", 1}});
    cost = op.node("Div", {cost, op.cast(rows, op.real_type())});
  }
  op.out("Loss", "Reshape", {cost, op.list({1})});
}

inline void lower_bpr(onnx_operator& op) {
  const std::string& x = op.in("X");
  const std::string& own = op.node("GatherElements", {x, op.in("Label")}, {{"axis", -1}});
  std::vector<std::int64_t> classes;
  for (std::int64_t k = 0; k < op.extent("X", -1); ++k) classes.push_back(k);
  const std::string& is_own =
      op.node("Equal", {op.cast(op.in("Label"), dtype::int64), op.list(classes)});
  const std::string& each =
      choose(op, is_own, op.number(0), softplus(op, op.node("Sub", {x, own})));
  const std::string& sum = op.node("ReduceSum", {each, op.list({-1})}, {{"keepdims", 1}});
  op.out("Y", affine(op, sum, 1 / static_cast<double>(classes.size() - 1), 0));
}

inline void lower_label_smooth(onnx_operator& op) {
  const double epsilon = op.real("epsilon");
  const std::string& kept = affine(op, op.in("X"), 1 - epsilon, 0);
  if (!op.has("PriorDist"))
    return op.out("Out", affine(op, kept, 1, epsilon / static_cast<double>(op.extent("X", -1))));
  op.out("Out", "Add", {kept, affine(op, op.in("PriorDist"), epsilon, 0)});
}

inline void add_loss_row(onnx_operators& to) {
  to.add("smooth_l1_loss", lower_smooth_l1);
  to.add("kldiv_loss", lower_kldiv);
  to.add("bpr_loss", lower_bpr);
  to.add("label_smooth", lower_label_smooth);
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
