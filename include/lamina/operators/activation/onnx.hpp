// SPDX-License-Identifier: Apache-2.0
// lamina/operators/activation/onnx.hpp - operators of the family activation, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <initializer_list>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// Reshapes groups of neighbouring channels to a new dimension, and takes the maximum over it.
inline void lower_maxout(onnx_operator& op) {
  const std::int64_t groups = op.integer("groups", 1);
  std::vector<std::int64_t> shape{0, op.extent("X", 1) / groups, groups};
  for (int d = 2; d < op.rank("X"); ++d) shape.push_back(op.extent("X", d));
  op.out("Out", "ReduceMax", {op.reshape(op.in("X"), shape), op.list({2})}, {{"keepdims", 0}});
}

inline void add_activation_prelu_maxout(onnx_operators& to) {
  // PRelu broadcasts the slopes to X as a whole, so it is x where x > 0, else slope * x.
  to.add_node("PRelu", [](onnx_import_node& n) {
    const onnx_imported& x = n.in(0);
    const onnx_imported above = n.binary("greater_equal", x, n.number(0, x.type), dtype::boolean);
    onnx_imported slope = n.in(1);
    if (n.version() < 7 && slope.rank() == 1 && x.rank() > 2 && slope.dims[0] != 1)
      for (int d = 2; d < x.rank(); ++d) slope = n.unsqueeze(slope, {slope.rank()});
    n.out(n.where(above, x, n.mul(x, slope)));
  });
  to.add("prelu", [](onnx_operator& op) {
    // Alpha has a single slope, one per channel, or one per element of a row.
    const std::string& mode = op.string("mode", "all");
    std::vector<std::int64_t> shape{1};
    const std::vector<std::int64_t>& x = op.dims("X");
    if (mode == "channel") {
      shape = {op.extent("X", 1)};
      for (std::size_t d = 2; d < x.size(); ++d) shape.push_back(1);
    } else if (mode == "element") {
      shape.assign(x.begin() + 1, x.end());
    }
    const std::string &in = op.in("X"), &alpha = op.reshape(op.in("Alpha"), shape);
    if (!is_double(op)) return op.out("Out", "PRelu", {in, alpha});
    op.out("Out", above(op, in, 0, in, op.node("Mul", {in, alpha})));
  });
  to.add("maxout", lower_maxout);
}

/// Returns mish with x * tanh(x) above its threshold. From 20 on, both are equal.
inline const std::string& above_threshold(onnx_operator& op, const std::string& x,
                                          const std::string& mish) {
  const double threshold = op.real("threshold", 20);
  if (threshold >= 20) return mish;
  return above(op, x, threshold, op.node("Mul", {x, op.node("Tanh", {x})}), mish);
}

inline void add_activation_simple(onnx_operators& to) {
  for (const auto& [type, node] : {std::pair{"relu", "Relu"},
                                   {"tanh", "Tanh"},
                                   {"sigmoid", "Sigmoid"},
                                   {"softplus", "Softplus"}})
    add_same(to, type, node);
  to.add_node("Softsign", [](onnx_import_node& n) { n.out(n.unary("softsign", n.in(0))); });
  to.add_node("Gelu", [](onnx_import_node& n) {
    n.out(n.unary("gelu", n.in(0), {{"approximate", n.string("approximate", "none") == "tanh"}}));
  });
  to.add_node("Selu", [](onnx_import_node& n) {
    n.out(n.unary("selu", n.in(0),
                  {{"alpha", n.real("alpha", 1.67326319217681884765625F)},
                   {"scale", n.real("gamma", 1.05070102214813232421875F)}}));
  });
  to.add_node("Mish", [](onnx_import_node& n) { n.out(n.unary("mish", n.in(0))); });
  to.add("mish", [](onnx_operator& op) {
    // mish is 0 for minus infinity and for all numbers below -1e4; the limit avoids NaN.
    const std::string& x = op.node("Max", {op.in("X"), op.number(-1e4)});
    op.out("Out", above_threshold(op, x, op.node("Mish", {x})));
  });
  to.add("softsign", [](onnx_operator& op) { op.out("Out", "Softsign", {finite(op)}); });
  to.add("logsigmoid", [](onnx_operator& op) {
    op.out("Out", "Neg", {softplus(op, op.node("Neg", {op.in("X")}))});
  });
  to.add("tanh_shrink", [](onnx_operator& op) {
    // The difference loses all digits for small x, so this uses the rational function of
    // core/numbers/math.hpp.
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
  replace_for_doubles(to, "mish", [](onnx_operator& op, const std::string&) {
    const std::string& x = op.node("Max", {op.in("X"), op.number(-1e4)});
    return above_threshold(op, x, op.node("Mul", {x, op.node("Tanh", {softplus(op, x)})}));
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

/// Softmax along an axis, or until version 13 over all dimensions from the axis on.
inline void raise_softmax(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  const bool whole = n.version() < 13, is_log = n.type() == "LogSoftmax";
  const std::int64_t axis = n.axis(n.integer("axis", whole ? 1 : -1), x.rank());
  onnx_imported flat = x;
  int at = static_cast<int>(axis);
  if (whole && axis != x.rank() - 1) {
    std::int64_t columns = 1;
    for (int d = at; d < x.rank(); ++d) columns *= n.extent(x, d);
    std::vector<std::int64_t> dims(x.dims.begin(), x.dims.begin() + axis);
    dims.push_back(columns);
    flat = n.reshape(x, dims);
  }
  onnx_imported y;
  if (n.type() == "Hardmax") {
    const std::int64_t k = n.extent(flat, at);
    std::vector<std::int64_t> dims = flat.dims;
    dims[static_cast<std::size_t>(at)] = 1;
    const onnx_imported first =
        n.make("arg_max", {{"X", flat}}, {{"axis", std::int64_t{at}}, {"keepdims", true}},
               dtype::int64, dims);
    y = n.cast(
        n.binary("equal", n.full(first, flat), n.positions(k, flat.rank(), at), dtype::boolean),
        x.type);
  } else if (is_log) {
    const onnx_imported low = n.sub(flat, n.reduce("reduce_max", flat, {at}, true));
    const onnx_imported sum = n.reduce("reduce_sum", n.unary("exp", low), {at}, true);
    y = n.sub(low, n.unary("log", sum));
  } else {
    y = n.unary("softmax", flat, {{"axis", at}});
  }
  n.out(n.reshape(y, x.dims));
}

inline void add_activation_softmax(onnx_operators& to) {
  for (const char* node : {"Softmax", "LogSoftmax", "Hardmax"}) to.add_node(node, raise_softmax);
  to.add("softmax", [](onnx_operator& op) {
    op.out("Out", "Softmax", {op.in("X")}, {{"axis", op.integer("axis", -1)}});
  });
}

/// HardSwish is the product of X and its HardSigmoid.
inline void raise_hard_sigmoid(onnx_import_node& n) {
  const bool swish = n.type() == "HardSwish";
  const onnx_imported y = n.unary("hard_sigmoid", n.in(0),
                                  {{"slope", swish ? 1.0F / 6 : n.real("alpha", 0.2F)},
                                   {"offset", swish ? 0.5F : n.real("beta", 0.5F)}});
  n.out(swish ? n.mul(n.in(0), y) : y);
}
/// Shrink: x + bias below -lambd, x - bias above lambd, else 0.
inline void raise_shrink(onnx_import_node& n) {
  const onnx_imported x = n.in(0);
  const dtype real = is_floating(x.type) ? x.type : dtype::float64;
  const onnx_imported y = n.cast(x, real);
  const double limit = static_cast<double>(n.real("lambd", 0.5F)),
               bias = static_cast<double>(n.real("bias"));
  const onnx_imported low = n.binary("less_than", y, n.number(-limit, real), dtype::boolean),
                      high = n.binary("greater_than", y, n.number(limit, real), dtype::boolean);
  n.out(n.cast(n.add(n.kept(n.affine(y, 1, bias), low), n.kept(n.affine(y, 1, -bias), high)),
               x.type));
}

inline void add_activation_tunable(onnx_operators& to) {
  to.add_node("LeakyRelu", [](onnx_import_node& n) {
    n.out(n.unary("leaky_relu", n.in(0), {{"alpha", n.real("alpha", 0.01F)}}));
  });
  to.add_node("Elu", [](onnx_import_node& n) {
    n.out(n.unary("elu", n.in(0), {{"alpha", n.real("alpha", 1)}}));
  });
  to.add_node("Celu", [](onnx_import_node& n) {
    const double alpha = static_cast<double>(n.real("alpha", 1));
    n.out(n.affine(n.unary("elu", n.affine(n.in(0), 1 / alpha, 0), {{"alpha", 1.0}}), alpha, 0));
  });
  to.add_node("Swish", [](onnx_import_node& n) {
    n.out(n.unary("swish", n.in(0), {{"beta", n.real("alpha", 1)}}));
  });
  to.add_node("ThresholdedRelu", [](onnx_import_node& n) {
    n.out(n.unary("thresholded_relu", n.in(0), {{"threshold", n.real("alpha", 1)}}));
  });
  to.add_node("HardSigmoid", raise_hard_sigmoid);
  to.add_node("HardSwish", raise_hard_sigmoid);
  to.add_node("Shrink", raise_shrink);
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

}}}  // namespace lamina::onnx
