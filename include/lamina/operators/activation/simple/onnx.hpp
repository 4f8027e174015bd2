// SPDX-License-Identifier: Apache-2.0
// lamina/operators/activation/simple/onnx.hpp - activations without parameters, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <initializer_list>
#include <numbers>
#include <string>
#include <utility>

#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void add_activation_simple(onnx_operators& to) {
  for (const auto& [type, node] : {std::pair{"relu", "Relu"},
                                   {"tanh", "Tanh"},
                                   {"sigmoid", "Sigmoid"},
                                   {"softplus", "Softplus"}})
    to.add(type, same_as(node));
  to.add("softsign", [](onnx_operator& op) { op.out("Out", "Softsign", {finite(op)}); });
  to.add("logsigmoid", [](onnx_operator& op) {
    op.out("Out", "Neg", {softplus(op, op.node("Neg", {op.in("X")}))});
  });
  to.add("tanh_shrink", [](onnx_operator& op) {
    // The difference loses all digits for small x, so this uses the rational function of
    // core/math.hpp.
    const std::string &x = op.in("X"), &t = op.node("Mul", {x, x});
    const auto polynomial = [&](std::string sum, std::initializer_list<double> coefficients) {
      for (const double c : coefficients) sum = affine(op, op.node("Mul", {sum, t}), 1, c);
      return sum;
    };
    const std::string& p = polynomial(
        affine(op, t, 0.964399179425052238628, 99.2877231001918786564), {1614.68768441708447952});
    const std::string& q = polynomial(affine(op, t, 1, 112.811678491632931402),
                                      {2235.48839060100448583, 4844.06305325125486048});
    const std::string& nearby = op.node("Mul", {x, op.node("Div", {op.node("Mul", {t, p}), q})});
    const std::string& is_near =
        op.node("Less", {op.node("Abs", {x}), op.number(0.625, op.type_of("X"))});
    op.out("Out", "Where", {is_near, nearby, op.node("Sub", {x, op.node("Tanh", {x})})});
  });
  to.add("gelu", [](onnx_operator& op) {
    // gelu is 0 for minus infinity and for all numbers below -1e4; the limit avoids NaN.
    op.out("Out", "Gelu", {op.node("Max", {op.in("X"), op.number(-1e4)})},
           {{"approximate", op.flag("approximate") ? "tanh" : "none"}});
  });
  to.add("selu", [](onnx_operator& op) {
    op.out("Out", "Selu", {op.in("X")},
           {{"alpha", op.real("alpha", 1.67326324F)}, {"gamma", op.real("scale", 1.05070098F)}});
  });
  replace_for_doubles(to, "softplus",
                      [](onnx_operator& op, const std::string& x) { return softplus(op, x); });
  replace_for_doubles(to, "softsign", [](onnx_operator& op, const std::string&) {
    const std::string& x = finite(op);
    return op.node("Div", {x, affine(op, op.node("Abs", {x}), 1, 1)});
  });
  // ONNX Runtime computes Gelu with float constants.
  replace_for_doubles(to, "gelu", [](onnx_operator& op, const std::string&) {
    const std::string& x = op.node("Max", {op.in("X"), op.number(-1e4)});
    std::string inner = affine(op, x, 1 / std::numbers::sqrt2, 0);
    const bool approximate = op.flag("approximate");
    if (approximate) {
      const std::string& cubic = op.node("Mul", {op.node("Mul", {x, x}), x});
      inner = affine(op, op.node("Add", {x, affine(op, cubic, 0.044715, 0)}),
                     std::numbers::sqrt2 * std::numbers::inv_sqrtpi, 0);
    }
    const std::string& part = affine(op, op.node(approximate ? "Tanh" : "Erf", {inner}), 0.5, 0.5);
    return op.node("Mul", {x, part});
  });
  replace_for_doubles(to, "selu", [](onnx_operator& op, const std::string& x) {
    const double scale = op.real("scale", 1.0507009873554805),
                 alpha = op.real("alpha", 1.6732632423543772);
    const std::string& low = exp_minus_one(op, op.node("Min", {x, op.number(0)}));
    return above(op, x, 0, affine(op, x, scale, 0), affine(op, low, scale * alpha, 0));
  });
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
