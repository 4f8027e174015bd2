// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/onnx.hpp - operators of the family elementwise, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <lamina/io/fluid/fluid_attributes.hpp>
#include <lamina/io/onnx/onnx_broadcast.hpp>
#include <lamina/io/onnx/onnx_fold.hpp>
#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

inline void add_elementwise_assign(onnx_operators& to) {
  to.add("assign", [](onnx_operator& op) { op.out("Out", op.in("X")); });
  to.add("cast", [](onnx_operator& op) {
    op.out("Out", "Cast", {op.in("X")}, {{"to", onnx_type_of(op.type_of("Out"))}});
  });
  to.add("increment", [](onnx_operator& op) {
    op.out("Out", "Add", {op.in("X"), op.number(op.real("step", 1), op.type_of("X"))});
  });
  fold(to, "assign", [](const onnx_operator&, auto x, auto) { return x; });
  fold(to, "cast", [](const onnx_operator&, auto x, auto) { return x; });
  fold(to, "increment", [](const onnx_operator& op, auto x, auto) {
    return x + static_cast<std::int64_t>(op.real("step", 1));
  });
}

inline void add_elementwise_binary(onnx_operators& to) {
  for (const auto& [type, node] : {std::pair{"elementwise_add", "Add"},
                                   {"elementwise_sub", "Sub"},
                                   {"elementwise_div", "Div"},
                                   {"elementwise_max", "Max"},
                                   {"elementwise_min", "Min"},
                                   {"elementwise_pow", "Pow"}})
    to.add(type, of_two(node));
  // The remainder has the sign of Y, because the quotient is rounded down.
  to.add("elementwise_mod", [](onnx_operator& op) {
    const std::string &x = op.in("X"), &y = aligned(op);
    if (is_whole(op.type_of("X"))) return op.out("Out", "Mod", {x, y});
    // The remainder of C's fmod is exact and has the sign of X.
    const std::string &rest = op.node("Mod", {x, y}, {{"fmod", 1}}), &zero = op.number(0);
    const std::string& other_side =
        op.node("Xor", {op.node("Less", {rest, zero}), op.node("Less", {y, zero})});
    const std::string& is_rest = op.node("Not", {op.node("Equal", {rest, zero})});
    op.out("Out", "Where",
           {op.node("And", {is_rest, other_side}), op.node("Add", {rest, y}), rest});
  });
  to.add("elementwise_floordiv", [](onnx_operator& op) {
    const std::string &x = op.in("X"), &y = aligned(op);
    if (!is_whole(op.type_of("X"))) return op.out("Out", "Floor", {op.node("Div", {x, y})});
    op.out("Out", "Div", {op.node("Sub", {x, op.node("Mod", {x, y})}), y});
  });
  // A product of Fluid with an attribute is an elementwise_keep: 0 where the mask is 0, for each X.
  to.add("elementwise_mul", [](onnx_operator& op) {
    if (!op.flag(detail::keeps_attribute)) return of_two("Mul")(op);
    const dtype type = op.type_of("X");
    const std::string& kept = op.cast(aligned(op), dtype::boolean);
    op.out("Out", "Where", {kept, op.in("X"), op.number(0, type)});
  });
  fold(to, "elementwise_add", [](const onnx_operator&, auto x, auto y) { return x + y; });
  fold(to, "elementwise_sub", [](const onnx_operator&, auto x, auto y) { return x - y; });
}

inline void add_elementwise_clip(onnx_operators& to) {
  to.add("clip", [](onnx_operator& op) {
    op.out("Out", limited(op, op.in("X"), op.real("min"), op.real("max"), op.type_of("X")));
  });
  to.add("clip_by_norm", [](onnx_operator& op) {
    const std::string& norm = length_of(op, op.in("X"), {}, 0);
    const std::string& most = op.number(op.real("max_norm"));
    // A NaN norm is not above the limit, so the factor is 1.
    const std::string& factor = op.node(
        "Where", {op.node("Greater", {norm, most}), op.node("Div", {most, norm}), op.number(1)});
    op.out("Out", "Mul", {op.in("X"), factor});
  });
}

inline void add_elementwise_compare(onnx_operators& to) {
  for (const auto& [type, node] : {std::pair{"less_than", "Less"},
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
  fold(to, "less_than", [](const onnx_operator&, auto x, auto y) { return x < y; });
  fold(to, "less_equal", [](const onnx_operator&, auto x, auto y) { return x <= y; });
  fold(to, "greater_than", [](const onnx_operator&, auto x, auto y) { return x > y; });
  fold(to, "greater_equal", [](const onnx_operator&, auto x, auto y) { return x >= y; });
  fold(to, "equal", [](const onnx_operator&, auto x, auto y) { return x == y; });
  fold(to, "not_equal", [](const onnx_operator&, auto x, auto y) { return x != y; });
  fold(to, "logical_and", [](const onnx_operator&, auto x, auto y) { return x && y; });
  fold(to, "logical_or", [](const onnx_operator&, auto x, auto y) { return x || y; });
  fold(to, "logical_not", [](const onnx_operator&, auto x, auto) { return !x; });
}

inline void add_elementwise_sum(onnx_operators& to) {
  to.add("scale", [](onnx_operator& op) {
    const double factor = op.real("scale", 1), bias = op.real("bias");
    const bool after = op.flag("bias_after_scale", true);
    const dtype type = op.type_of("X");
    if (is_whole(type) && (factor != std::floor(factor) || bias != std::floor(bias))) {
      // Integers are scaled in double, and the result is truncated.
      const std::string& y = affine(op, op.cast(op.in("X"), dtype::float64), factor,
                                    after ? bias : factor * bias, dtype::float64);
      return op.out("Out", op.cast(y, type));
    }
    op.out("Out", affine(op, op.in("X"), factor, after ? bias : factor * bias, op.type_of("X")));
  });
  to.add("sum", [](onnx_operator& op) {
    const std::vector<std::string> all = op.all("X");
    if (all.size() == 1 || is_floating(op.type_of("X")))
      return all.size() == 1 ? op.out("Out", all[0]) : op.out("Out", "Sum", all);
    std::string sum = all.at(0);
    for (std::size_t i = 1; i < all.size(); ++i) sum = op.node("Add", {sum, all[i]});
    op.out("Out", sum);
  });
  to.add("minus", [](onnx_operator& op) { op.out("Out", "Sub", {op.in("X"), op.in("Y")}); });
  fold(to, "scale", [](const onnx_operator& op, auto x, auto) {
    const double factor = op.real("scale", 1), bias = op.real("bias");
    const double y = static_cast<double>(x);
    return static_cast<std::int64_t>(op.flag("bias_after_scale", true) ? factor * y + bias
                                                                       : factor * (y + bias));
  });
}

inline void add_elementwise_unary(onnx_operators& to) {
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
  to.add("square", [](onnx_operator& op) { op.out("Out", "Mul", {op.in("X"), op.in("X")}); });
  to.add("rsqrt",
         [](onnx_operator& op) { op.out("Out", "Reciprocal", {op.node("Sqrt", {op.in("X")})}); });
  to.add("round", [](onnx_operator& op) {
    // Rounds halves away from 0. ONNX's Round rounds halves to even and gives the same result for
    // all other numbers.
    const std::string &x = op.in("X"), &even = op.node("Round", {x});
    const std::string& half = op.number(0.5);
    const std::string& is_half =
        op.node("Equal", {op.node("Abs", {op.node("Sub", {x, even})}), half});
    const std::string& away = op.node("Add", {x, op.node("Mul", {op.node("Sign", {x}), half})});
    op.out("Out", "Where", {is_half, away, even});
  });
}

}}}  // namespace lamina::onnx
