// SPDX-License-Identifier: Apache-2.0
// lamina/operators/activation/tunable/onnx.hpp - activations with attributes, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <string>

#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void add_activation_tunable(onnx_operators& to) {
  to.add("leaky_relu", [](onnx_operator& op) {
    op.out("Out", "LeakyRelu", {op.in("X")}, {{"alpha", op.real("alpha", 0.02F)}});
  });
  to.add("elu", [](onnx_operator& op) {
    op.out("Out", "Elu", {op.in("X")}, {{"alpha", op.real("alpha", 1)}});
  });
  to.add("relu6", [](onnx_operator& op) {
    op.out("Out", limited(op, op.in("X"), 0, op.real("threshold", 6), op.type_of("X")));
  });
  to.add("brelu", [](onnx_operator& op) {
    op.out("Out", limited(op, op.in("X"), op.real("t_min"), op.real("t_max", 24), op.type_of("X")));
  });
  to.add("soft_relu", [](onnx_operator& op) {
    const double most = op.real("threshold", 40);
    op.out("Out", softplus(op, limited(op, op.in("X"), -most, most, op.type_of("X"))));
  });
  to.add("stanh", [](onnx_operator& op) {
    const std::string& inner = affine(op, op.in("X"), op.real("scale_a", 0.67F), 0);
    op.out("Out", affine(op, op.node("Tanh", {inner}), op.real("scale_b", 1.7159F), 0));
  });
  to.add("hard_sigmoid", [](onnx_operator& op) {
    op.out("Out", "HardSigmoid", {op.in("X")},
           {{"alpha", op.real("slope", 0.2F)}, {"beta", op.real("offset", 0.5F)}});
  });
  to.add("swish", [](onnx_operator& op) {
    const std::string& inner = affine(op, op.in("X"), op.real("beta", 1), 0);
    op.out("Out", weighted(op, op.node("Sigmoid", {inner}), op.in("X")));
  });
  to.add("hard_swish", [](onnx_operator& op) {
    const std::string& moved = affine(op, op.in("X"), 1, op.real("offset", 3));
    const std::string& inside = limited(op, moved, 0, op.real("threshold", 6), op.real_type());
    op.out("Out", "Div", {weighted(op, inside, op.in("X")), op.number(op.real("scale", 6))});
  });
  to.add("hard_shrink", [](onnx_operator& op) {
    const float limit = static_cast<float>(op.real("threshold", 0.5F));
    op.out("Out",
           keeping_nan(op, op.node("Shrink", {op.in("X")}, {{"lambd", limit}, {"bias", 0.F}})));
  });
  to.add("softshrink", [](onnx_operator& op) {
    const double l = op.real("lambda", 0.5);
    op.out("Out", keeping_nan(op, op.node("Shrink", {op.in("X")}, {{"lambd", l}, {"bias", l}})));
  });
  to.add("thresholded_relu", [](onnx_operator& op) {
    const float limit = static_cast<float>(op.real("threshold", 1));
    op.out("Out", keeping_nan(op, op.node("ThresholdedRelu", {op.in("X")}, {{"alpha", limit}})));
  });
  replace_for_doubles(to, "elu", [](onnx_operator& op, const std::string& x) {
    const std::string& low = op.node("Min", {x, op.number(0)});
    return above(op, x, 0, x, affine(op, exp_minus_one(op, low), op.real("alpha", 1), 0));
  });
  replace_for_doubles(to, "leaky_relu", [](onnx_operator& op, const std::string& x) {
    return above(op, x, 0, x, affine(op, x, op.real("alpha", 0.02F), 0));
  });
  replace_for_doubles(to, "hard_sigmoid", [](onnx_operator& op, const std::string& x) {
    return limited(op, affine(op, x, op.real("slope", 0.2F), op.real("offset", 0.5)), 0, 1,
                   dtype::float64);
  });
  replace_for_doubles(to, "hard_shrink", [](onnx_operator& op, const std::string& x) {
    return keeping_nan(op,
                       above(op, op.node("Abs", {x}), op.real("threshold", 0.5), x, op.number(0)));
  });
  replace_for_doubles(to, "softshrink", [](onnx_operator& op, const std::string& x) {
    const double l = op.real("lambda", 0.5);
    const std::string& low = op.node("Min", {affine(op, x, 1, l), op.number(0)});
    return above(op, x, l, affine(op, x, 1, -l), low);
  });
  replace_for_doubles(to, "thresholded_relu", [](onnx_operator& op, const std::string& x) {
    return keeping_nan(op, above(op, x, op.real("threshold", 1), x, op.number(0)));
  });
  to.add("pow", [](onnx_operator& op) {
    op.out("Out", "Pow", {op.in("X"), op.number(op.real("factor", 1), op.type_of("X"))});
  });
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
