// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/onnx.hpp - operators of the family loss, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/reduce/onnx.hpp>
#include <lamina/operators/sequence/onnx.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// A piecewise cost: `inside` where `condition` is true, else `outside`.
inline const std::string& choose(onnx_operator& op, const std::string& condition,
                                 const std::string& inside, const std::string& outside) {
  return op.node("Where", {condition, inside, outside});
}
inline const std::string& square(onnx_operator& op, const std::string& x) {
  return op.node("Mul", {x, x});
}

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

/// NegativeLogLikelihoodLoss of logarithms of probabilities, and SoftmaxCrossEntropyLoss of scores.
/// A mean divides by the weights of the labels; ignored labels have the weight 0.
inline void raise_label_loss(onnx_import_node& n) {
  const bool of_scores = n.type() == "SoftmaxCrossEntropyLoss";
  onnx_imported x = n.in(0);
  const onnx_imported& label = n.in(1);
  n.require_rank(x, 2, 16);
  const dtype type = x.type;
  if (of_scores) {
    const onnx_imported low = n.sub(x, n.reduce("reduce_max", x, {1}, true));
    x = n.sub(low, n.unary("log", n.reduce("reduce_sum", n.unary("exp", low), {1}, true)));
    n.out(1, x);
  }
  const std::int64_t classes = n.extent(x, 1);
  const onnx_imported id = n.unsqueeze(n.cast(label, dtype::int64), {1});
  const onnx_imported numbers = n.positions(classes, x.rank(), 1);
  const onnx_imported is_label = n.binary("equal", n.full(id, numbers), numbers, dtype::boolean);
  onnx_imported chosen = n.reduce("reduce_sum", n.kept(x, is_label), {1}, false);
  onnx_imported weight;
  if (n.has(2)) {
    std::vector<std::int64_t> dims(x.dims.size(), 1);
    dims[1] = classes;
    const onnx_imported all = n.full(n.reshape(n.in(2), dims), x);
    weight = n.reduce("reduce_sum", n.kept(all, is_label), {1}, false);
  }
  if (n.has_attribute("ignore_index")) {
    const onnx_imported counts = n.binary(
        "not_equal", n.cast(label, dtype::int64),
        n.number(static_cast<double>(n.integer("ignore_index")), dtype::int64), dtype::boolean);
    chosen = n.kept(chosen, counts);
    weight = weight.has_value() ? n.kept(weight, counts) : n.cast(counts, type);
  }
  onnx_imported cost = n.negative(chosen);
  if (weight.has_value()) cost = n.mul(cost, weight);
  const std::string reduction = n.string("reduction", "mean");
  std::vector<std::int64_t> axes;
  for (int d = 0; d < cost.rank(); ++d) axes.push_back(d);
  if (reduction == "none") return n.out(cost);
  if (reduction != "mean" && reduction != "sum")
    n.fail("expected reduction none, sum or mean, found " + reduction);
  if (reduction == "mean" && !weight.has_value())
    return n.out(n.reduce("reduce_mean", cost, axes, false));
  const onnx_imported sum = n.reduce("reduce_sum", cost, axes, false);
  n.out(reduction == "sum" ? sum : n.div(sum, n.reduce("reduce_sum", weight, axes, false)));
}

inline void add_loss_cross_entropy(onnx_operators& to) {
  to.add_node("NegativeLogLikelihoodLoss", raise_label_loss);
  to.add_node("SoftmaxCrossEntropyLoss", raise_label_loss);
  to.add("softmax_with_cross_entropy", lower_softmax_with_cross_entropy);
  to.add("cross_entropy", [](onnx_operator& op) {
    cost_of_labels(op, "Y", limited(op, op.node("Log", {op.in("X")}), -1e20, 1e20, op.real_type()));
  });
}

inline void lower_ctc_align(onnx_operator& op) {
  const sequence_positions at = positions_in(op, "Input");
  const std::string& x = op.reshape(op.in("Input"), {-1});
  std::string stays = differs(op, x, op.integer("blank"), op.type_of("Input"));
  if (op.flag("merge_repeated", true)) {
    const shifted_rows before = shifted(op, at, x, -1);
    const std::string& repeats =
        op.node("And", {op.reshape(before.is_inside, {-1}), op.node("Equal", {x, before.values})});
    stays = op.node("And", {stays, op.node("Not", {repeats})});
  }
  keep_rows(op, "Output", at, op.in("Input"), stays);
}

inline void add_loss_ctc(onnx_operators& to) { to.add("ctc_align", lower_ctc_align); }

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

}}}  // namespace lamina::onnx
