// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/onnx.hpp - operators of the family elementwise, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <lamina/io/fluid/fluid_attributes.hpp>
#include <lamina/io/onnx/onnx_broadcast.hpp>
#include <lamina/io/onnx/onnx_fold.hpp>
#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/elementwise/onnx_quantize.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

inline void raise_cast(onnx_import_node& n) {
  const bool like = n.type() == "CastLike";
  onnx_imported made = n.cast(n.in(0), like ? n.in(1).type : n.type_attribute("to", 1));
  made.stored = like ? n.in(1).stored : static_cast<int>(n.integer("to", 1));
  n.out(std::move(made));
}

inline void add_elementwise_assign(onnx_operators& to) {
  to.add_node("Identity", [](onnx_import_node& n) { n.out(n.in(0)); });
  to.add_node("Cast", raise_cast);
  to.add_node("CastLike", raise_cast);
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

/// The power of X's type. An integer to a power of floating type is computed in double.
inline void raise_pow(onnx_import_node& n) {
  const onnx_imported x = n.in(0), y = n.second_operand();
  const bool exact = !is_floating(x.type) && !is_floating(y.type);
  const dtype type = exact || is_floating(x.type) ? x.type : dtype::float64;
  n.out(n.cast(n.binary("elementwise_pow", n.cast(x, type), n.cast(y, type), type), x.type));
}
/// Mod: the sign is that of Y, or with fmod that of X, as in C.
inline void raise_mod(onnx_import_node& n) {
  const onnx_imported &x = n.in(0), &y = n.in(1);
  if (!n.flag("fmod")) return n.out(n.binary("elementwise_mod", x, y));
  if (!is_floating(x.type))
    return n.out(n.sub(n.full(x, y), n.mul(n.binary("elementwise_div", x, y), y)));
  const onnx_imported rest = n.binary("elementwise_mod", n.unary("abs", x), n.unary("abs", y));
  const onnx_imported below = n.binary("less_than", x, n.number(0, x.type), dtype::boolean);
  n.out(n.where(below, n.negative(rest), rest));
}
/// A function of any number of operands.
inline onnx_raising raise_of_all(const char* type, bool is_mean = false) {
  return [type, is_mean](onnx_import_node& n) {
    onnx_imported sum = n.in(0);
    for (std::size_t i = 1; i < n.count(); ++i) sum = n.binary(type, sum, n.in(i));
    n.out(is_mean ? n.div(sum, n.number(static_cast<double>(n.count()), sum.type)) : sum);
  };
}

inline void add_elementwise_binary(onnx_operators& to) {
  to.add_node("Pow", raise_pow);
  to.add_node("Mod", raise_mod);
  to.add_node("Max", raise_of_all("elementwise_max"));
  to.add_node("Min", raise_of_all("elementwise_min"));
  to.add_node("Sum", raise_of_all("elementwise_add"));
  to.add_node("Mean", raise_of_all("elementwise_add", true));
  add_same_of_two(to, "elementwise_add", "Add");
  add_same_of_two(to, "elementwise_sub", "Sub");
  add_same_of_two(to, "elementwise_div", "Div");
  for (const auto& [type, node] : {std::pair{"elementwise_max", "Max"},
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
  to.add_node("Mul", [](onnx_import_node& n) { n.out(n.mul(n.in(0), n.second_operand())); });
  fold(to, "elementwise_add", [](const onnx_operator&, auto x, auto y) { return x + y; });
  fold(to, "elementwise_sub", [](const onnx_operator&, auto x, auto y) { return x - y; });
}

/// Clip: the limits are attributes until version 11, then operands that may be absent.
inline void raise_clip(onnx_import_node& n) {
  onnx_imported x = n.in(0), low, high;
  if (n.version() < 11) {
    if (n.has_attribute("min")) low = n.number(static_cast<double>(n.real("min")), x.type);
    if (n.has_attribute("max")) high = n.number(static_cast<double>(n.real("max")), x.type);
  } else {
    low = n.optional(1);
    high = n.optional(2);
  }
  const auto limit = [](const onnx_imported& v) { return v.constant->cast<double>().flat(0); };
  if (low.constant != nullptr && high.constant != nullptr && x.type == dtype::float32 &&
      low.constant->size() == 1 && high.constant->size() == 1)
    return n.out(n.unary("clip", x, {{"min", limit(low)}, {"max", limit(high)}}));
  if (low.has_value()) x = n.binary("elementwise_max", x, low);
  if (high.has_value()) x = n.binary("elementwise_min", x, high);
  n.out(x);
}

inline void add_elementwise_clip(onnx_operators& to) {
  to.add_node("Clip", raise_clip);
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

/// Truth of two operands, both with the dimensions of the result.
inline onnx_raising raise_logical(const char* type) {
  return [type](onnx_import_node& n) {
    const onnx_imported &x = n.in(0), &y = n.in(1);
    n.out(n.binary(type, n.full(x, y), n.full(y, x), dtype::boolean));
  };
}
/// The smallest number that an unsigned type of 16 or 32 bits, which lamina holds in a wider type,
/// does not have; 0 for other types.
inline double end_of_unsigned(const onnx_imported& x) {
  return x.stored == 4 ? 65536.0 : x.stored == 12 ? 4294967296.0 : 0.0;
}
/// An operator on the bits of two integers, both with the dimensions of the result.
inline onnx_imported of_bits(onnx_import_node& n, const char* type, const onnx_imported& x,
                             const onnx_imported& y, std::vector<onnx_set> attributes = {}) {
  const onnx_imported left = n.full(x, y);
  onnx_imported made =
      n.make(type, {{"X", left}, {"Y", n.full(y, x)}}, std::move(attributes), x.type, left.dims);
  made.stored = x.stored;
  return made;
}
inline void raise_bit_shift(onnx_import_node& n) {
  const onnx_imported &x = n.in(0), &y = n.in(1);
  const std::string direction = n.string("direction");
  if (direction != "LEFT" && direction != "RIGHT")
    n.fail("expected direction LEFT or RIGHT, found '" + direction + "'");
  const bool keeps_sign = x.stored != 13 && y.stored != 13;  // uint64 has none
  if (direction == "RIGHT")
    return n.out(of_bits(n, "bitwise_right_shift", x, y, {{"keeps_sign", keeps_sign}}));
  const double end = (std::max)(end_of_unsigned(x), end_of_unsigned(y));
  onnx_imported made = of_bits(n, "bitwise_left_shift", x, y);
  if (end > 0) made = of_bits(n, "bitwise_and", made, n.number(end - 1, x.type));
  n.out(made);
}
/// -1 - x for a number with a sign, and the largest number minus x for one without.
inline void raise_bitwise_not(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  const double end = x.type == dtype::uint8 ? 256.0 : end_of_unsigned(x);
  onnx_imported made = n.sub(n.number(end - 1, x.type), x);
  made.stored = x.stored;
  n.out(made);
}
inline void raise_is_inf(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  const double infinity = std::numeric_limits<double>::infinity();
  const bool above = n.flag("detect_positive", true), below = n.flag("detect_negative", true);
  const onnx_imported limit = n.number(below && !above ? -infinity : infinity, x.type);
  if (!above && !below)
    return n.out(
        n.binary("not_equal", n.unary("fill_zeros_like", x), n.number(0, x.type), dtype::boolean));
  n.out(n.binary("equal", above && below ? n.unary("abs", x) : x, limit, dtype::boolean));
}

inline void add_elementwise_compare(onnx_operators& to) {
  for (const auto& [type, node] : {std::pair{"less_than", "Less"},
                                   {"less_equal", "LessOrEqual"},
                                   {"greater_than", "Greater"},
                                   {"greater_equal", "GreaterOrEqual"},
                                   {"equal", "Equal"}})
    add_same_of_two(to, type, node, true);
  for (const auto& [type, node] :
       {std::pair{"logical_and", "And"}, {"logical_or", "Or"}, {"logical_xor", "Xor"}})
    to.add_node(node, raise_logical(type));
  for (const auto& [type, node] : {std::pair{"bitwise_and", "BitwiseAnd"},
                                   {"bitwise_or", "BitwiseOr"},
                                   {"bitwise_xor", "BitwiseXor"}})
    to.add_node(node,
                [type = type](onnx_import_node& n) { n.out(of_bits(n, type, n.in(0), n.in(1))); });
  to.add_node("BitShift", raise_bit_shift);
  to.add_node("BitwiseNot", raise_bitwise_not);
  to.add_node("Not", [](onnx_import_node& n) { n.out(n.unary("logical_not", n.in(0))); });
  to.add_node("Where", [](onnx_import_node& n) { n.out(n.where(n.in(0), n.in(1), n.in(2))); });
  to.add_node("IsNaN", [](onnx_import_node& n) {
    n.out(n.binary("not_equal", n.in(0), n.in(0), dtype::boolean));
  });
  to.add_node("IsInf", raise_is_inf);
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

/// Round: halves to the even neighbour.
inline void raise_round(onnx_import_node& n) { n.out(rounded_to_even(n, n.in(0))); }
/// Hyperbolic functions: cosh x = (e^x + e^-x) / 2 and sinh x = tanh x cosh x.
inline void raise_hyperbolic(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  const onnx_imported sum = n.add(n.unary("exp", x), n.unary("exp", n.negative(x)));
  const onnx_imported cosh = n.affine(sum, 0.5, 0);
  n.out(n.type() == "Cosh" ? cosh : n.mul(n.unary("tanh", x), cosh));
}
/// log(1 + u) without loss of digits near 0: log(w) * u / (w - 1) with w = 1 + u, and u if w is 1
/// or infinite.
inline onnx_imported log_of_more(onnx_import_node& n, const onnx_imported& u) {
  const onnx_imported w = n.affine(u, 1, 1), one = n.number(1, u.type);
  const onnx_imported infinity = n.number(std::numeric_limits<double>::infinity(), u.type);
  const onnx_imported is_u =
      n.binary("logical_or", n.binary("equal", w, one, dtype::boolean),
               n.binary("equal", w, infinity, dtype::boolean), dtype::boolean);
  const onnx_imported divisor = n.where(is_u, one, n.affine(w, 1, -1));
  return n.where(is_u, u, n.div(n.mul(n.unary("log", w), u), divisor));
}
/// asinh x = sign(x) log(1 + |x| + x^2 / (1 + sqrt(x^2 + 1))), acosh x = log(1 + t +
/// sqrt(2 t + t^2)) with t = x - 1, and atanh x = log(1 + 2 x / (1 - x)) / 2.
inline void raise_inverse_hyperbolic(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  if (n.type() == "Atanh") {
    const onnx_imported size = n.unary("abs", x);
    const onnx_imported u = n.div(n.affine(size, 2, 0), n.affine(size, -1, 1));
    return n.out(n.mul(n.unary("sign", x), n.affine(log_of_more(n, u), 0.5, 0)));
  }
  if (n.type() == "Acosh") {
    const onnx_imported t = n.affine(x, 1, -1);
    const onnx_imported root =
        n.mul(n.unary("sqrt", t), n.unary("sqrt", n.affine(t, 1, 2)));  // x^2 would overflow
    return n.out(log_of_more(n, n.add(t, root)));
  }
  // Above 1e9, where x^2 could overflow, asinh x = log(2 x) to the last digit.
  const onnx_imported size = n.unary("abs", x);
  const onnx_imported is_large =
      n.binary("greater_than", size, n.number(1e9, x.type), dtype::boolean);
  const onnx_imported near_zero = n.binary("elementwise_min", size, n.number(1e9, x.type));
  const onnx_imported square = n.unary("square", near_zero);
  const onnx_imported rest = n.div(square, n.affine(n.unary("sqrt", n.affine(square, 1, 1)), 1, 1));
  const onnx_imported large = n.affine(n.unary("log", size), 1, std::numbers::ln2);
  n.out(
      n.mul(n.unary("sign", x), n.where(is_large, large, log_of_more(n, n.add(near_zero, rest)))));
}

inline void add_elementwise_unary(onnx_operators& to) {
  for (const char* node : {"Asinh", "Acosh", "Atanh"}) to.add_node(node, raise_inverse_hyperbolic);
  to.add_node("Round", raise_round);
  to.add_node("Cosh", raise_hyperbolic);
  to.add_node("Sinh", raise_hyperbolic);
  to.add_node("Neg", [](onnx_import_node& n) { n.out(n.negative(n.in(0))); });
  to.add_node("Tan", [](onnx_import_node& n) {
    n.out(n.div(n.unary("sin", n.in(0)), n.unary("cos", n.in(0))));
  });
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
                                   {"erf", "Erf"},
                                   {"reciprocal", "Reciprocal"},
                                   {"sign", "Sign"}})
    add_same(to, type, node);
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
