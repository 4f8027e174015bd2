// SPDX-License-Identifier: Apache-2.0
// lamina/io/simplify/graph_patterns.hpp - what passes look for in a graph: factors and summands,
// broadcast operands, and polynomials that several operators compute.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <lamina/io/fluid/to_program_message.hpp>
#include <lamina/io/simplify/program_graph.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace passes {

/// Whether a number is `wanted` to the digits of an element type.
inline bool is_near(double found, double wanted, dtype type) {
  const double digits = type == dtype::float64 ? 1e-14 : 1e-6;
  return std::abs(found - wanted) <= digits * std::abs(wanted);
}
/// Whether an attribute, which files store as a float, holds a number for results of this type.
inline bool fits_attribute(double number, dtype type) {
  if (!std::isfinite(number) || !std::isfinite(static_cast<float>(number))) return false;
  if (number != 0 && std::abs(static_cast<float>(number)) < 1.2e-38F) return false;
  return type != dtype::float64 || double(static_cast<float>(number)) == number;
}

/// y = factor * x + bias.
struct affine_of_value {
  int x;
  double factor, bias;
};

/// Whether a message of elementwise_mul is one of Fluid and not an elementwise_keep.
inline bool is_product(const graph_node& n) {
  const attribute_message* keeps = n.message.attribute(detail::keeps_attribute);
  return n.type() == "elementwise_mul" && (keeps == nullptr || keeps->integer == 0);
}

/// Returns the factor and the bias if an operator is `scale`, or combines a floating value with a
/// number that is known before a run.
inline std::optional<affine_of_value> affine(const program_graph& g, int n) {
  if (n < 0) return std::nullopt;
  const graph_node& op = g.node(n);
  const int x = op.input("X"), out = op.output("Out");
  if (x < 0 || out < 0 || !lamina::is_real(g.type(x)) || g.type(x) != g.type(out) ||
      !g.is_stable(x) || !g.is_stable(out))
    return std::nullopt;
  if (op.type() == "scale") {
    if (op.inputs.size() != 1) return std::nullopt;  // with the factor in a variable
    const double factor = g.real(op, "scale"), bias = g.real(op, "bias");
    return affine_of_value{x, factor, g.flag(op, "bias_after_scale") ? bias : factor * bias};
  }
  const bool adds = op.type() == "elementwise_add", subtracts = op.type() == "elementwise_sub",
             multiplies = is_product(op), divides = op.type() == "elementwise_div";
  if (!adds && !subtracts && !multiplies && !divides) return std::nullopt;
  const int y = op.input("Y");
  int other = x;
  std::optional<double> c = g.number(y);
  if (!c && (adds || multiplies)) {  // the number may be X if both have the same shape
    c = g.number(x);
    other = y;
  }
  if (!c || other < 0 || g.number(other) || g.dims(other) != g.dims(out) ||
      g.type(other) != g.type(out) || !g.is_stable(other))
    return std::nullopt;
  if (adds) return affine_of_value{other, 1, *c};
  if (subtracts) return affine_of_value{other, 1, -*c};
  if (multiplies) return affine_of_value{other, *c, 0};
  return affine_of_value{other, 1 / *c, 0};
}

/// Returns the dimensions of Y among those of X, with 1 where Y is repeated; empty if they do not
/// fit. `axis` is that of the elementwise operators.
inline std::optional<extents> aligned(const extents& x, extents y, std::int64_t axis) {
  const std::int64_t difference =
      static_cast<std::int64_t>(x.size()) - static_cast<std::int64_t>(y.size());
  const std::int64_t begin = axis < 0 || difference == 0 ? difference : axis;
  while (!y.empty() && y.back() == 1) y.pop_back();
  extents made(x.size(), 1);
  if (y.empty()) return made;
  if (begin < 0 ||
      begin + static_cast<std::int64_t>(y.size()) > static_cast<std::int64_t>(x.size()))
    return std::nullopt;
  for (std::size_t d = 0; d < y.size(); ++d) {
    const std::size_t at = static_cast<std::size_t>(begin) + d;
    if (y[d] != x[at]) return std::nullopt;
    made[at] = y[d];
  }
  return made;
}
/// Returns the dimensions of the operand Y of an elementwise operator among those of X, which must
/// be the dimensions of the result.
inline std::optional<extents> aligned(const program_graph& g, const graph_node& op) {
  const int x = op.input("X"), y = op.input("Y"), out = op.output("Out");
  if (x < 0 || y < 0 || out < 0 || g.dims(x) != g.dims(out)) return std::nullopt;
  return aligned(g.dims(x), g.dims(y), g.integer(op, "axis"));
}

/// The operators of a pattern: all of them become one, so nothing else may read what the inner ones
/// compute.
struct region {
  std::vector<int> nodes{};

  void add(int n) {
    if (std::find(nodes.begin(), nodes.end(), n) == nodes.end()) nodes.push_back(n);
  }
  bool has(int n) const { return std::find(nodes.begin(), nodes.end(), n) != nodes.end(); }
  /// Whether the results of all operators except `root` are read by operators of the region only.
  bool is_closed(const program_graph& g, int root) const {
    for (const int n : nodes) {
      if (g.node(n).block != g.node(root).block) return false;
      if (n == root) continue;
      for (const graph_node::slot& s : g.node(n).outputs)
        for (const int v : s.values) {
          if (v < 0) continue;
          if (!g.is_inner(v)) return false;
          for (const int r : g.value(v).readers)
            if (!has(r) && r != root) return false;
        }
    }
    return true;
  }
};

/// Returns the value from which a value was made by reshapes that only add or remove dimensions of
/// extent 1. The operators are added to `of`.
inline int before_unit_dims(const program_graph& g, int v, region& of) {
  const auto others = [&](int value) {
    extents d = g.dims(value);
    std::erase(d, 1);
    return d;
  };
  for (int steps = 0; steps < 8; ++steps) {
    const int n = g.maker(v);
    if (n < 0) return v;
    const std::string& type = g.node(n).type();
    if (type != "squeeze2" && type != "unsqueeze2" && type != "reshape2") return v;
    const int x = g.node(n).input("X");
    if (!g.is_stable(x) || g.node(n).output("XShape") >= 0 || others(x) != others(v)) return v;
    if (type == "reshape2" && std::count(g.dims(x).begin(), g.dims(x).end(), -1) > 1) return v;
    of.add(n);
    v = x;
  }
  return v;
}

/// A polynomial in two values: the coefficient of each pair of powers.
class polynomial {
 public:
  using powers = std::array<int, 2>;
  static constexpr int highest = 4;

  polynomial() = default;
  explicit polynomial(double constant) { add({0, 0}, constant); }
  static polynomial variable(int i) {
    polynomial p;
    p.add(i == 0 ? powers{1, 0} : powers{0, 1}, 1);
    return p;
  }
  double at(int first, int second) const {
    const auto found = terms_.find({first, second});
    return found == terms_.end() ? 0 : found->second;
  }
  std::size_t size() const { return terms_.size(); }

  polynomial plus(const polynomial& o, double factor = 1) const {
    polynomial made = *this;
    for (const auto& [p, c] : o.terms_) made.add(p, c * factor);
    return made;
  }
  polynomial times(double factor) const { return polynomial().plus(*this, factor); }
  /// Returns the product; empty if a power is above `highest`.
  std::optional<polynomial> times(const polynomial& o) const {
    polynomial made;
    for (const auto& [p, c] : terms_)
      for (const auto& [q, d] : o.terms_) {
        if (p[0] + q[0] > highest || p[1] + q[1] > highest) return std::nullopt;
        made.add({p[0] + q[0], p[1] + q[1]}, c * d);
      }
    return made;
  }

 private:
  void add(powers p, double c) {
    double& to = terms_[p];
    to += c;
    if (to == 0) terms_.erase(p);
  }
  std::map<powers, double> terms_;
};

/// Returns value v as a polynomial in the values x and y (or in x alone, with y = -1), if operators
/// compute it by sums, products and powers. The operators are added to `of`.
inline std::optional<polynomial> expanded(const program_graph& g, int v, int x, int y, region& of,
                                          int depth = 0) {
  if (v == x) return polynomial::variable(0);
  if (v == y && y >= 0) return polynomial::variable(1);
  const int n = g.maker(v);
  if (n < 0 || depth > 8 || g.dims(v) != g.dims(x) || g.type(v) != g.type(x)) return std::nullopt;
  const graph_node& op = g.node(n);
  const auto of_value = [&](int value) { return expanded(g, value, x, y, of, depth + 1); };
  if (const auto a = affine(g, n)) {
    const auto inner = of_value(a->x);
    if (!inner) return std::nullopt;
    of.add(n);
    return inner->times(a->factor).plus(polynomial(a->bias));
  }
  const int first = op.input("X"), second = op.input("Y");
  const auto power = [&](double exponent) -> std::optional<polynomial> {
    if (exponent != 2 && exponent != 3) return std::nullopt;
    const auto inner = of_value(first);
    if (!inner) return std::nullopt;
    std::optional<polynomial> made = inner->times(*inner);
    if (made && exponent == 3) made = made->times(*inner);
    if (made) of.add(n);
    return made;
  };
  if (op.type() == "square") return power(2);
  if (op.type() == "pow") return op.inputs.size() == 1 ? power(g.real(op, "factor")) : std::nullopt;
  if (op.type() == "elementwise_pow") {
    const std::optional<double> exponent = g.number(second);
    return exponent ? power(*exponent) : std::nullopt;
  }
  const bool adds = op.type() == "elementwise_add", subtracts = op.type() == "elementwise_sub";
  if (!adds && !subtracts && !is_product(op)) return std::nullopt;
  if (first < 0 || second < 0 || g.dims(first) != g.dims(v) || g.dims(second) != g.dims(v))
    return std::nullopt;
  const auto a = of_value(first), b = of_value(second);
  if (!a || !b) return std::nullopt;
  of.add(n);
  if (adds || subtracts) return a->plus(*b, adds ? 1 : -1);
  return a->times(*b);
}

}}}  // namespace lamina::passes
