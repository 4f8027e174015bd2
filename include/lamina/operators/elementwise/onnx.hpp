// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/onnx.hpp - operators that work element by element, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

/// X -> Out by one node.
inline onnx_lowering same_as(const char* type) {
  return [type](onnx_operator& op) { op.out("Out", type, {op.in("X")}); };
}

/// The value in a slot in the shape in which ONNX broadcasts it against X: Fluid puts the
/// dimensions of Y, trailing ones left out, at `axis` of X; ONNX puts them at the end.
inline std::string aligned(onnx_operator& op, const char* slot = "Y") {
  const std::string y = op.in(slot);
  const int rank = op.rank(slot), axis = static_cast<int>(op.integer("axis", -1));
  const int at = axis < 0 ? op.rank("X") - rank : axis;
  const int positions = op.rank("X") - at;
  if (at < 0 || rank == positions) return y;
  std::vector<std::int64_t> axes;
  for (int i = rank; i < positions; ++i) axes.push_back(i);
  if (rank < positions) return op.node("Unsqueeze", {y, op.list(axes)});
  for (int i = positions; i < rank; ++i) axes.push_back(i);
  return op.node("Squeeze", {y, op.list(axes)});
}
inline onnx_lowering of_two(const char* type) {
  return [type](onnx_operator& op) { op.out("Out", type, {op.in("X"), aligned(op)}); };
}
inline onnx_lowering logical(const char* type) {
  return [type](onnx_operator& op) {
    std::vector<std::string> inputs;
    for (const char* slot : {"X", "Y"})
      if (op.has(slot))
        inputs.push_back(op.type_of(slot) == dtype::boolean ? op.in(slot)
                                                            : op.cast(op.in(slot), dtype::boolean));
    op.out("Out", type, inputs);
  };
}

/// ONNX Runtime has some functions for floats only: for doubles they are composed of others.
inline bool is_double(const onnx_operator& op) { return op.real_type() == dtype::float64; }
/// e^x - 1 without loss near 0, of x up to 0.
inline std::string exp_minus_one(onnx_operator& op, const std::string& x) {
  const std::string t = op.node("Tanh", {affine(op, x, 0.5, 0)});
  return op.node("Div", {affine(op, t, 2, 0), affine(op, t, -1, 1)});
}
/// positive(x) where x > limit, else other(x).
inline std::string above(onnx_operator& op, const std::string& x, double limit,
                         const std::string& inside, const std::string& otherwise) {
  return op.node("Where", {op.node("Greater", {x, op.number(limit)}), inside, otherwise});
}
/// One node if the operator computes floats, else the nodes that `made` adds.
template <class Made>
onnx_lowering for_doubles(onnx_lowering node, Made made) {
  return [node = std::move(node), made](onnx_operator& op) {
    if (!is_double(op)) return node(op);
    op.out("Out", made(op, op.in("X")));
  };
}
/// Replaces activations in `to` by variants that also work for doubles.
inline void replace_for_doubles(onnx_operators& to) {
  const auto add = [&to](const char* type, auto made) {
    to.add(type, for_doubles(*to.find(type), made));
  };
  add("softplus", [](onnx_operator& op, const std::string& x) { return softplus(op, x); });
  add("softsign", [](onnx_operator& op, const std::string&) {
    const std::string x = finite(op);
    return op.node("Div", {x, affine(op, op.node("Abs", {x}), 1, 1)});
  });
  // ONNX Runtime makes Gelu's function of constants in float.
  add("gelu", [](onnx_operator& op, const std::string&) {
    const std::string x = op.node("Max", {op.in("X"), op.number(-1e4)});
    std::string inner = affine(op, x, 1 / std::numbers::sqrt2, 0);
    const bool approximate = op.flag("approximate");
    if (approximate) {
      const std::string cubic = op.node("Mul", {op.node("Mul", {x, x}), x});
      inner = affine(op, op.node("Add", {x, affine(op, cubic, 0.044715, 0)}),
                     std::numbers::sqrt2 * std::numbers::inv_sqrtpi, 0);
    }
    const std::string part = affine(op, op.node(approximate ? "Tanh" : "Erf", {inner}), 0.5, 0.5);
    return op.node("Mul", {x, part});
  });
  add("elu", [](onnx_operator& op, const std::string& x) {
    const std::string low = op.node("Min", {x, op.number(0)});
    return above(op, x, 0, x, affine(op, exp_minus_one(op, low), op.real("alpha", 1), 0));
  });
  add("selu", [](onnx_operator& op, const std::string& x) {
    const double scale = op.real("scale", 1.0507009873554805),
                 alpha = op.real("alpha", 1.6732632423543772);
    const std::string low = exp_minus_one(op, op.node("Min", {x, op.number(0)}));
    return above(op, x, 0, affine(op, x, scale, 0), affine(op, low, scale * alpha, 0));
  });
  add("leaky_relu", [](onnx_operator& op, const std::string& x) {
    return above(op, x, 0, x, affine(op, x, op.real("alpha", 0.02F), 0));
  });
  add("hard_sigmoid", [](onnx_operator& op, const std::string& x) {
    return limited(op, affine(op, x, op.real("slope", 0.2F), op.real("offset", 0.5)), 0, 1,
                   dtype::float64);
  });
  add("hard_shrink", [](onnx_operator& op, const std::string& x) {
    return keeping_nan(op,
                       above(op, op.node("Abs", {x}), op.real("threshold", 0.5), x, op.number(0)));
  });
  add("softshrink", [](onnx_operator& op, const std::string& x) {
    const double l = op.real("lambda", 0.5);
    const std::string low = op.node("Min", {affine(op, x, 1, l), op.number(0)});
    return above(op, x, l, affine(op, x, 1, -l), low);
  });
  add("thresholded_relu", [](onnx_operator& op, const std::string& x) {
    return keeping_nan(op, above(op, x, op.real("threshold", 1), x, op.number(0)));
  });
}

inline bool is_whole(dtype type) { return !is_floating(type) && type != dtype::boolean; }

inline void add_activations(onnx_operators& to) {
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
    // For small x the difference has no digits, so this writes the quotient of polynomials of
    // core/math.hpp.
    const std::string x = op.in("X"), t = op.node("Mul", {x, x});
    const auto polynomial = [&](std::string sum, std::initializer_list<double> coefficients) {
      for (const double c : coefficients) sum = affine(op, op.node("Mul", {sum, t}), 1, c);
      return sum;
    };
    const std::string p = polynomial(affine(op, t, 0.964399179425052238628, 99.2877231001918786564),
                                     {1614.68768441708447952});
    const std::string q = polynomial(affine(op, t, 1, 112.811678491632931402),
                                     {2235.48839060100448583, 4844.06305325125486048});
    const std::string near = op.node("Mul", {x, op.node("Div", {op.node("Mul", {t, p}), q})});
    const std::string is_near =
        op.node("Less", {op.node("Abs", {x}), op.number(0.625, op.type_of("X"))});
    op.out("Out", "Where", {is_near, near, op.node("Sub", {x, op.node("Tanh", {x})})});
  });
  to.add("gelu", [](onnx_operator& op) {
    // gelu is 0 for minus infinity and for all numbers below -1e4.
    op.out("Out", "Gelu", {op.node("Max", {op.in("X"), op.number(-1e4)})},
           {{"approximate", op.flag("approximate") ? "tanh" : "none"}});
  });
  to.add("selu", [](onnx_operator& op) {
    op.out("Out", "Selu", {op.in("X")},
           {{"alpha", op.real("alpha", 1.67326324F)}, {"gamma", op.real("scale", 1.05070098F)}});
  });
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
    const std::string inner = affine(op, op.in("X"), op.real("scale_a", 0.67F), 0);
    op.out("Out", affine(op, op.node("Tanh", {inner}), op.real("scale_b", 1.7159F), 0));
  });
  to.add("hard_sigmoid", [](onnx_operator& op) {
    op.out("Out", "HardSigmoid", {op.in("X")},
           {{"alpha", op.real("slope", 0.2F)}, {"beta", op.real("offset", 0.5F)}});
  });
  to.add("swish", [](onnx_operator& op) {
    const std::string inner = affine(op, op.in("X"), op.real("beta", 1), 0);
    op.out("Out", weighted(op, op.node("Sigmoid", {inner}), op.in("X")));
  });
  to.add("hard_swish", [](onnx_operator& op) {
    const std::string moved = affine(op, op.in("X"), 1, op.real("offset", 3));
    const std::string inside = limited(op, moved, 0, op.real("threshold", 6), op.real_type());
    op.out("Out", "Div", {weighted(op, inside, op.in("X")), op.number(op.real("scale", 6))});
  });
  to.add("hard_shrink", [](onnx_operator& op) {
    const float limit = op.real("threshold", 0.5F);
    op.out("Out",
           keeping_nan(op, op.node("Shrink", {op.in("X")}, {{"lambd", limit}, {"bias", 0.F}})));
  });
  to.add("softshrink", [](onnx_operator& op) {
    const double l = op.real("lambda", 0.5);
    op.out("Out", keeping_nan(op, op.node("Shrink", {op.in("X")}, {{"lambd", l}, {"bias", l}})));
  });
  to.add("thresholded_relu", [](onnx_operator& op) {
    const float limit = op.real("threshold", 1);
    op.out("Out", keeping_nan(op, op.node("ThresholdedRelu", {op.in("X")}, {{"alpha", limit}})));
  });
  to.add("prelu", [](onnx_operator& op) {
    // One slope in all, one per channel, or one per element of a row.
    const std::string mode = op.string("mode", "all");
    std::vector<std::int64_t> shape{1};
    const std::vector<std::int64_t>& x = op.dims("X");
    if (mode == "channel") {
      shape = {op.extent("X", 1)};
      for (std::size_t d = 2; d < x.size(); ++d) shape.push_back(1);
    } else if (mode == "element") {
      shape.assign(x.begin() + 1, x.end());
    }
    const std::string in = op.in("X"), alpha = op.reshape(op.in("Alpha"), shape);
    if (!is_double(op)) return op.out("Out", "PRelu", {in, alpha});
    op.out("Out", above(op, in, 0, in, op.node("Mul", {in, alpha})));
  });
  replace_for_doubles(to);
}

inline void add_elementary(onnx_operators& to) {
  for (const auto& [type, node] : {std::pair{"exp", "Exp"},
                                   {"log", "Log"},
                                   {"sqrt", "Sqrt"},
                                   {"abs", "Abs"},
                                   {"ceil", "Ceil"},
                                   {"floor", "Floor"},
                                   {"sin", "Sin"},
                                   {"cos", "Cos"},
                                   {"asin", "Asin"},
                                   {"acos", "Acos"},
                                   {"atan", "Atan"},
                                   {"reciprocal", "Reciprocal"},
                                   {"sign", "Sign"}})
    to.add(type, same_as(node));
  to.add("assign", [](onnx_operator& op) { op.out("Out", op.in("X")); });
  to.add("print", [](onnx_operator& op) { op.out("Out", op.in("In")); });
  to.add("square", [](onnx_operator& op) { op.out("Out", "Mul", {op.in("X"), op.in("X")}); });
  to.add("rsqrt",
         [](onnx_operator& op) { op.out("Out", "Reciprocal", {op.node("Sqrt", {op.in("X")})}); });
  to.add("round", [](onnx_operator& op) {
    // Rounds halves away from 0. ONNX's Round rounds halves to even and gives the same result for
    // all other numbers.
    const std::string x = op.in("X"), even = op.node("Round", {x});
    const std::string half = op.number(0.5);
    const std::string is_half =
        op.node("Equal", {op.node("Abs", {op.node("Sub", {x, even})}), half});
    const std::string away = op.node("Add", {x, op.node("Mul", {op.node("Sign", {x}), half})});
    op.out("Out", "Where", {is_half, away, even});
  });
  to.add("pow", [](onnx_operator& op) {
    op.out("Out", "Pow", {op.in("X"), op.number(op.real("factor", 1), op.type_of("X"))});
  });
  to.add("scale", [](onnx_operator& op) {
    const double factor = op.real("scale", 1), bias = op.real("bias");
    const bool after = op.flag("bias_after_scale", true);
    const dtype type = op.type_of("X");
    if (is_whole(type) && (factor != std::floor(factor) || bias != std::floor(bias))) {
      // Whole numbers are scaled in double, and the result is truncated.
      const std::string y = affine(op, op.cast(op.in("X"), dtype::float64), factor,
                                   after ? bias : factor * bias, dtype::float64);
      return op.out("Out", op.cast(y, type));
    }
    op.out("Out", affine(op, op.in("X"), factor, after ? bias : factor * bias, op.type_of("X")));
  });
  to.add("clip", [](onnx_operator& op) {
    op.out("Out", limited(op, op.in("X"), op.real("min"), op.real("max"), op.type_of("X")));
  });
  to.add("clip_by_norm", [](onnx_operator& op) {
    const std::string norm = length_of(op, op.in("X"), {}, 0);
    const std::string most = op.number(op.real("max_norm"));
    // A norm that is NaN is above nothing.
    const std::string factor = op.node(
        "Where", {op.node("Greater", {norm, most}), op.node("Div", {most, norm}), op.number(1)});
    op.out("Out", "Mul", {op.in("X"), factor});
  });
  to.add("cast", [](onnx_operator& op) {
    op.out("Out", "Cast", {op.in("X")}, {{"to", onnx_type_of(op.type_of("Out"))}});
  });
  to.add("increment", [](onnx_operator& op) {
    op.out("Out", "Add", {op.in("X"), op.number(op.real("step", 1), op.type_of("X"))});
  });
  to.add("fill_zeros_like", [](onnx_operator& op) {
    op.out("Out", "Expand", {op.number(0, op.type_of("Out")), op.node("Shape", {op.in("X")})});
  });
}

inline void add_of_two(onnx_operators& to) {
  for (const auto& [type, node] : {std::pair{"elementwise_add", "Add"},
                                   {"elementwise_sub", "Sub"},
                                   {"elementwise_mul", "Mul"},
                                   {"elementwise_div", "Div"},
                                   {"elementwise_max", "Max"},
                                   {"elementwise_min", "Min"},
                                   {"elementwise_pow", "Pow"},
                                   {"less_than", "Less"},
                                   {"less_equal", "LessOrEqual"},
                                   {"greater_than", "Greater"},
                                   {"greater_equal", "GreaterOrEqual"},
                                   {"equal", "Equal"}})
    to.add(type, of_two(node));
  to.add("not_equal", [](onnx_operator& op) {
    op.out("Out", "Not", {op.node("Equal", {op.in("X"), aligned(op)})});
  });
  to.add("logical_and", logical("And"));
  to.add("logical_or", logical("Or"));
  to.add("logical_xor", logical("Xor"));
  to.add("logical_not", logical("Not"));
  // The remainder has the sign of Y, and the quotient is rounded down.
  to.add("elementwise_mod", [](onnx_operator& op) {
    const std::string x = op.in("X"), y = aligned(op);
    if (is_whole(op.type_of("X"))) return op.out("Out", "Mod", {x, y});
    // The remainder of C's fmod is exact, and has the sign of X.
    const std::string rest = op.node("Mod", {x, y}, {{"fmod", 1}}), zero = op.number(0);
    const std::string other_side =
        op.node("Xor", {op.node("Less", {rest, zero}), op.node("Less", {y, zero})});
    const std::string is_rest = op.node("Not", {op.node("Equal", {rest, zero})});
    op.out("Out", "Where",
           {op.node("And", {is_rest, other_side}), op.node("Add", {rest, y}), rest});
  });
  to.add("elementwise_floordiv", [](onnx_operator& op) {
    const std::string x = op.in("X"), y = aligned(op);
    if (!is_whole(op.type_of("X"))) return op.out("Out", "Floor", {op.node("Div", {x, y})});
    op.out("Out", "Div", {op.node("Sub", {x, op.node("Mod", {x, y})}), y});
  });
  to.add("sum", [](onnx_operator& op) {
    const std::vector<std::string> all = op.all("X");
    if (all.size() == 1 || is_floating(op.type_of("X")))
      return all.size() == 1 ? op.out("Out", all[0]) : op.out("Out", "Sum", all);
    std::string sum = all.at(0);
    for (std::size_t i = 1; i < all.size(); ++i) sum = op.node("Add", {sum, all[i]});
    op.out("Out", sum);
  });
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
