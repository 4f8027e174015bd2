// SPDX-License-Identifier: Apache-2.0
// lamina/io/onnx/onnx_functions.hpp - functions composed of several ONNX nodes, which are also
// correct for NaN, infinity and 0.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// Returns y, but NaN where X is NaN; for nodes that do not return NaN for NaN.
inline const std::string& keeping_nan(onnx_operator& op, const std::string& y) {
  const std::string& x = op.in("X");
  return op.node("Where", {op.node("Equal", {x, x}), y, x});
}

/// min(max(x, low), high).
inline const std::string& limited(onnx_operator& op, const std::string& x, double low, double high,
                                  dtype type) {
  return op.node("Clip", {x, op.number(low, type), op.number(high, type)});
}

/// Replaces infinity in X by the largest finite number, because infinity / infinity is NaN.
inline std::string finite(onnx_operator& op) {
  const double most = op.real_type() == dtype::float64
                          ? (std::numeric_limits<double>::max)()
                          : double((std::numeric_limits<float>::max)());
  return limited(op, op.in("X"), -most, most, op.real_type());
}
/// Returns factor * x, and 0 where the factor is 0, because infinity * 0 is NaN.
inline const std::string& weighted(onnx_operator& op, const std::string& factor,
                                   const std::string& x) {
  const std::string& zero = op.number(0);
  return op.node("Where", {op.node("Equal", {factor, zero}), zero, op.node("Mul", {factor, x})});
}

/// Returns the largest or smallest elements along axes; NaN if any element is NaN. The nodes of
/// ONNX Runtime alone propagate or skip NaN depending on the dimensions.
inline std::string extreme(onnx_operator& op, const char* type, std::vector<std::string> inputs,
                           bool keep, dtype of) {
  const std::string& most = op.node(type, inputs, {{"keepdims", keep}});
  if (!is_floating(of)) return most;
  inputs[0] = op.cast(op.node("IsNaN", {inputs[0]}), dtype::int32);
  const std::string& any =
      op.cast(op.node("ReduceMax", inputs, {{"keepdims", keep}}), dtype::boolean);
  return op.node("Where", {any, op.number(std::numeric_limits<double>::quiet_NaN(), of), most});
}

/// Returns factor * x + bias; omits a factor of 1 and a bias of 0.
inline std::string affine(onnx_operator& op, std::string x, double factor, double bias,
                          dtype type) {
  if (factor != 1) x = op.node("Mul", {x, op.number(factor, type)});
  return bias != 0 ? op.node("Add", {x, op.number(bias, type)}) : x;
}
inline std::string affine(onnx_operator& op, std::string x, double factor, double bias) {
  return affine(op, std::move(x), factor, bias, op.real_type());
}

/// Returns log(1 + e^x) without overflow.
inline const std::string& softplus(onnx_operator& op, const std::string& x) {
  if (op.real_type() != dtype::float64) return op.node("Softplus", {x});
  // ONNX Runtime supports Softplus for float only. With w = 1 + u, log(1 + u) = log(w) * u / (w -
  // 1) up to rounding; if w is 1, it is u.
  const std::string& u = op.node("Exp", {op.node("Neg", {op.node("Abs", {x})})});
  const std::string &w = affine(op, u, 1, 1), &one = op.number(1);
  const std::string& is_one = op.node("Equal", {w, one});
  const std::string& less = op.node("Where", {is_one, one, affine(op, w, 1, -1)});
  const std::string& log = op.node(
      "Where", {is_one, u, op.node("Div", {op.node("Mul", {op.node("Log", {w}), u}), less})});
  return op.node("Add", {op.node("Max", {x, op.number(0)}), log});
}

/// The norm of a vector, and the vector divided by its norm.
struct length_and_direction {
  std::string length, direction;
};
/// Returns the norm of x, and x divided by it. The norm is the square root of epsilon plus the sum
/// of squares along `axes`, or of all elements without axes. If the norm is 0, the quotient is 0.
/// Elements are first divided by the largest one, because squares of large numbers, and the root
/// itself, may overflow.
inline length_and_direction direction_of(onnx_operator& op, const std::string& x,
                                         const std::vector<std::int64_t>& axes, double epsilon) {
  const std::int64_t keeps = axes.empty() ? 0 : 1;
  const auto reduced = [&](const char* type, const std::string& of) {
    std::vector<std::string> inputs{of};
    if (!axes.empty()) inputs.push_back(op.list(axes));
    return op.node(type, inputs, {{"keepdims", keeps}});
  };
  const dtype type = op.type_of("X");
  const std::string &size = op.node("Abs", {x}), &zero = op.number(0, type),
                    &one = op.number(1, type);
  const auto or_one = [&](const std::string& divisor) {
    return op.node("Where", {op.node("Equal", {divisor, zero}), one, divisor});
  };
  const std::string& largest = reduced("ReduceMax", size);
  // Small numbers are scaled too if epsilon is 0; otherwise the scaled epsilon would overflow.
  const std::string& most =
      epsilon != 0 ? op.node("Max", {largest, one})
                   : op.node("Where", {op.node("Greater", {largest, zero}), largest, one});
  const std::string& part = op.node("Div", {x, most});
  std::string sum = reduced("ReduceSumSquare", part);
  if (epsilon != 0) {
    const std::string& less = op.node("Div", {op.number(epsilon, type), most});
    sum = op.node("Add", {sum, op.node("Div", {less, most})});
  }
  const std::string& root = op.node("Sqrt", {sum});
  // Infinity divided by itself would be NaN.
  const std::string &is_infinite = op.node("IsInf", {most}), &whole = reduced("ReduceSum", size);
  return {op.node("Where", {is_infinite, whole, op.node("Mul", {root, most})}),
          op.node("Where", {is_infinite, op.node("Div", {x, or_one(whole)}),
                            op.node("Div", {part, or_one(root)})})};
}
/// Returns only the norm.
inline std::string length_of(onnx_operator& op, const std::string& x,
                             const std::vector<std::int64_t>& axes, double epsilon) {
  return direction_of(op, x, axes, epsilon).length;
}

/// Makes a conversion to one node that computes Out from X.
inline onnx_lowering same_as(const char* type) {
  return [type](onnx_operator& op) { op.out("Out", type, {op.in("X")}); };
}

/// Adds an operator of X that means the same as a node, for both directions.
inline void add_same(onnx_operators& to, const char* type, const char* node) {
  to.add(type, same_as(node));
  to.add_node(node, [type](onnx_import_node& n) { n.out(n.unary(type, n.in(0))); });
}

/// Whether the operator computes in double. ONNX Runtime supports some functions only for floats;
/// for doubles they are composed of others.
inline bool is_double(const onnx_operator& op) { return op.real_type() == dtype::float64; }
/// Returns e^x - 1 for x <= 0, without loss of precision near 0.
inline const std::string& exp_minus_one(onnx_operator& op, const std::string& x) {
  const std::string& t = op.node("Tanh", {affine(op, x, 0.5, 0)});
  return op.node("Div", {affine(op, t, 2, 0), affine(op, t, -1, 1)});
}
/// Returns `inside` where x > limit, else `otherwise`.
inline const std::string& above(onnx_operator& op, const std::string& x, double limit,
                                const std::string& inside, const std::string& otherwise) {
  return op.node("Where", {op.node("Greater", {x, op.number(limit)}), inside, otherwise});
}
/// Makes a conversion that uses a single node for floats, and the nodes that `made` adds for
/// doubles.
template <class Made>
onnx_lowering for_doubles(onnx_lowering node, Made made) {
  return [node = std::move(node), made](onnx_operator& op) {
    if (!is_double(op)) return node(op);
    op.out("Out", made(op, op.in("X")));
  };
}
/// Replaces the conversion of an activation by one that also works for doubles.
template <class Made>
void replace_for_doubles(onnx_operators& to, const char* type, Made made) {
  to.add(type, for_doubles(*to.find(type), made));
}

inline bool is_whole(dtype type) { return !is_floating(type) && type != dtype::boolean; }

/// Returns the product of dimensions [first, end), which must be known.
inline std::int64_t extents(const onnx_operator& op, const char* slot, int first, int end) {
  std::int64_t n = 1;
  for (int d = first; d < end; ++d) n *= op.extent(slot, d);
  return n;
}

/// Removes the last dimension of integers [..., 1].
inline const std::string& without_last(onnx_operator& op, const char* slot) {
  return op.node("Squeeze", {op.in(slot), op.list({op.rank(slot) - 1})});
}

}}}  // namespace lamina::onnx
