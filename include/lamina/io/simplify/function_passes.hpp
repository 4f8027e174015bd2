// SPDX-License-Identifier: Apache-2.0
// lamina/io/simplify/function_passes.hpp - arithmetic with constants, and activation functions that
// several operators compute.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>

#include <lamina/io/simplify/graph_patterns.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace passes {

/// Writes arithmetic with a number that is known before a run as one `scale`, powers as `square`
/// and `reciprocal`, and bounds by two numbers as `clip`.
class arithmetic_pass {
 public:
  explicit arithmetic_pass(program_graph& g) : g_(g) {}

  int run() {
    int applied = 0;
    for (int n = 0; n < g_.node_count(); ++n)
      if (!g_.node(n).is_removed && (scales(n) || powers(n) || bounds(n))) ++applied;
    return applied;
  }

 private:
  bool scales(int n) {
    const auto last = affine(g_, n);
    if (!last) return false;
    const dtype type = g_.type(last->x);
    affine_of_value whole = *last;
    bool combined = false;
    const auto first = affine(g_, g_.maker(last->x));
    // With a bias b, (a x + b) c loses other digits than a c x + b c.
    if (first && g_.is_read_once(last->x) && first->bias == 0) {
      whole = {first->x, first->factor * last->factor, last->bias};
      combined = fits_attribute(whole.factor, type) && fits_attribute(whole.bias, type) &&
                 (type == dtype::float32 || is_exact(*first, *last));
      if (!combined) whole = *last;
    }
    if (!combined && g_.node(n).type() == "scale") return false;
    if (!fits_attribute(whole.factor, type) || !fits_attribute(whole.bias, type)) return false;
    // In double, division by a number is not a product with its reciprocal.
    if (type == dtype::float64 && g_.node(n).type() == "elementwise_div" &&
        !is_power_of_two(last->factor))
      return false;
    g_.rewrite(n, "scale", {{"X", {whole.x}}},
               {program_graph::real_attribute("scale", whole.factor),
                program_graph::real_attribute("bias", whole.bias)});
    return true;
  }
  // Whether products with these factors round no result: one factor is a power of 2.
  static bool is_exact(const affine_of_value& a, const affine_of_value& b) {
    return is_power_of_two(a.factor) || is_power_of_two(b.factor);
  }
  static bool is_power_of_two(double x) {
    int exponent = 0;
    return std::abs(std::frexp(x, &exponent)) == 0.5;
  }

  bool powers(int n) {
    const graph_node& op = g_.node(n);
    const int x = op.input("X"), out = op.output("Out");
    if (!g_.is_stable(x) || !g_.is_stable(out) || !lamina::is_real(g_.type(x)) ||
        g_.type(x) != g_.type(out) || g_.dims(x) != g_.dims(out))
      return false;
    std::optional<double> exponent;
    if (op.type() == "elementwise_pow") exponent = g_.number(op.input("Y"));
    if (op.type() == "pow" && op.inputs.size() == 1) exponent = g_.real(op, "factor");
    if (is_product(op) && op.input("Y") == x) exponent = 2;
    if (exponent != 2.0 && exponent != -1.0) return false;
    g_.rewrite(n, exponent == 2.0 ? "square" : "reciprocal", {{"X", {x}}}, {});
    return true;
  }

  // min(max(x, low), high), or max(min(x, high), low) with low <= high.
  bool bounds(int n) {
    const graph_node& op = g_.node(n);
    const bool is_min = op.type() == "elementwise_min", is_max = op.type() == "elementwise_max";
    if (!is_min && !is_max) return false;
    const std::optional<bound> last = bound_of(op);
    if (!last) return false;
    const dtype type = g_.type(last->x);
    if (!lamina::is_real(type)) return false;
    const int before = g_.maker(last->x, is_min ? "elementwise_max" : "elementwise_min");
    if (before >= 0 && g_.is_read_once(last->x)) {
      const std::optional<bound> first = bound_of(g_.node(before));
      if (!first) return false;
      const double low = is_min ? first->at : last->at, high = is_min ? last->at : first->at;
      if (!fits_limit(low, type) || !fits_limit(high, type) || !(low <= high)) return false;
      g_.rewrite(
          n, "clip", {{"X", {first->x}}},
          {program_graph::real_attribute("min", low), program_graph::real_attribute("max", high)});
      return true;
    }
    // Its reader may be the other bound, which then finds this one.
    if (!is_max || last->at != 0 || is_bounded(op.output("Out"))) return false;
    g_.rewrite(n, "relu", {{"X", {last->x}}}, {});
    return true;
  }
  struct bound {
    int x;
    double at;
  };
  std::optional<bound> bound_of(const graph_node& op) const {
    const int x = op.input("X"), y = op.input("Y"), out = op.output("Out");
    if (!g_.is_stable(x) || !g_.is_stable(y) || !g_.is_stable(out)) return std::nullopt;
    for (const auto& [of, limit] : {std::array{x, y}, std::array{y, x}})
      if (const auto at = g_.number(limit); at && !std::isnan(*at) && !g_.number(of) &&
                                            g_.dims(of) == g_.dims(out) &&
                                            g_.type(of) == g_.type(out))
        return bound{of, *at};
    return std::nullopt;
  }
  static bool fits_limit(double limit, dtype type) {
    return std::isinf(limit) || fits_attribute(limit, type);
  }
  bool is_bounded(int v) const {
    if (!g_.is_read_once(v)) return false;
    const graph_node& reader = g_.node(g_.value(v).readers[0]);
    return reader.type() == "elementwise_min" && bound_of(reader).has_value();
  }

  program_graph& g_;
};

/// Finds gelu (by erf and by tanh), swish, hard_swish, hard_sigmoid, softplus, softsign and
/// logsigmoid in the operators that exporters write for them.
class activation_pass {
 public:
  explicit activation_pass(program_graph& g) : g_(g) {}

  int run() {
    int applied = 0;
    for (int n = 0; n < g_.node_count(); ++n) {
      if (g_.node(n).is_removed) continue;
      const std::string type = g_.node(n).type();
      bool found = false;
      if (type == "erf" || type == "tanh") found = gelu(n, type == "tanh");
      if (type == "sigmoid") found = swish(n);
      if (type == "clip" || type == "relu6" || type == "brelu") found = hard_sigmoid(n);
      if (type == "hard_sigmoid") found = hard_swish(n);
      if (type == "log") found = of_logarithm(n);
      if (type == "elementwise_div") found = softsign(n);
      applied += found ? 1 : 0;
    }
    return applied;
  }

 private:
  using attributes = std::vector<attribute_message>;

  // The operator n computes a gate from x, and further operators a product with x. Returns the
  // operator whose result is `wanted` as a polynomial in x and the gate, or -1.
  int product_with_gate(int n, int x, const polynomial& wanted, region of) const {
    const int gate = g_.node(n).output("Out");
    const dtype type = g_.type(gate);
    of.add(n);
    int v = gate;
    for (int steps = 0; steps < 4 && g_.is_read_once(v); ++steps) {
      const int root = g_.value(v).readers[0];
      v = g_.node(root).output("Out");
      if (v < 0 || !g_.is_stable(v)) return -1;
      region all = of;
      const auto found = expanded(g_, v, x, gate, all);
      if (!found || found->size() != wanted.size()) continue;
      bool same = true;
      for (int i = 0; i <= polynomial::highest; ++i)
        for (int k = 0; k <= polynomial::highest; ++k)
          same = same && is_near(found->at(i, k), wanted.at(i, k), type);
      if (same && all.is_closed(g_, root)) return root;
    }
    return -1;
  }
  bool is_function(int n) const {
    const graph_node& op = g_.node(n);
    const int x = op.input("X"), y = op.output("Out");
    return op.inputs.size() == 1 && g_.is_stable(x) && g_.is_inner(y) &&
           lamina::is_real(g_.type(x)) && g_.type(x) == g_.type(y) && g_.dims(x) == g_.dims(y);
  }

  // The values from which value v may be computed as a polynomial, nearest first.
  void bases(int v, std::vector<int>& to, int depth = 0) const {
    if (std::find(to.begin(), to.end(), v) != to.end() || depth > 6 || to.size() > 16) return;
    to.push_back(v);
    const int n = g_.maker(v);
    if (n < 0) return;
    for (const graph_node::slot& s : g_.node(n).inputs)
      for (const int x : s.values)
        if (x >= 0 && g_.dims(x) == g_.dims(v) && g_.type(x) == g_.type(v)) bases(x, to, depth + 1);
  }

  // x / 2 (1 + erf(x / sqrt 2)), or x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
  bool gelu(int n, bool by_tanh) {
    if (!is_function(n)) return false;
    const int z = g_.node(n).input("X");
    const double slope =
        by_tanh ? std::numbers::sqrt2 * std::numbers::inv_sqrtpi : 1 / std::numbers::sqrt2;
    const polynomial x = polynomial::variable(0), gate = polynomial::variable(1);
    const polynomial wanted = x.times(0.5).plus(x.times(gate)->times(0.5));
    std::vector<int> all;
    bases(z, all);
    for (const int base : all) {
      region of;
      const auto inner = expanded(g_, z, base, -1, of);
      if (!inner || inner->size() != (by_tanh ? 2U : 1U)) continue;
      // Exporters round the constants of the approximation to six digits.
      const double first = inner->at(1, 0), third = inner->at(3, 0);
      const bool is_double = g_.type(z) == dtype::float64;
      if (std::abs(first - slope) > (is_double ? 1e-15 : 1e-6)) continue;
      if (by_tanh && std::abs(third - slope * 0.044715) > (is_double ? 1e-16 : 1e-7)) continue;
      const int root = product_with_gate(n, base, wanted, of);
      if (root < 0) continue;
      g_.rewrite(root, "gelu", {{"X", {base}}},
                 {program_graph::flag_attribute("approximate", by_tanh)});
      return true;
    }
    return false;
  }

  // x sigmoid(beta x).
  bool swish(int n) {
    if (!is_function(n)) return false;
    const int z = g_.node(n).input("X");
    const polynomial wanted = *polynomial::variable(0).times(polynomial::variable(1));
    std::vector<int> all;
    bases(z, all);
    for (const int base : all) {
      region of;
      const auto inner = expanded(g_, z, base, -1, of);
      if (!inner || inner->size() != 1 || inner->at(1, 0) == 0) continue;
      const double beta = inner->at(1, 0);
      if (!fits_attribute(beta, g_.type(z))) continue;
      const int root = product_with_gate(n, base, wanted, of);
      if (root < 0) continue;
      g_.rewrite(root, "swish", {{"X", {base}}}, {program_graph::real_attribute("beta", beta)});
      return true;
    }
    return false;
  }

  // min(max(x + o, 0), m) / m is a hard_sigmoid; if its product with x follows, a hard_swish.
  bool hard_sigmoid(int n) {
    if (!is_function(n)) return false;
    const graph_node& op = g_.node(n);
    const bool is_relu6 = op.type() == "relu6", is_brelu = op.type() == "brelu";
    const double low = is_relu6 ? 0 : g_.real(op, is_brelu ? "t_min" : "min"),
                 high = g_.real(op, is_relu6   ? "threshold"
                                    : is_brelu ? "t_max"
                                               : "max");
    const int z = op.input("X"), y = op.output("Out");
    if (low != 0 || !(high > 0) || !std::isfinite(high)) return false;
    const auto moved = affine(g_, g_.maker(z));
    if (!moved || moved->factor != 1) return false;
    const int x = moved->x;
    const dtype type = g_.type(x);
    region of;
    of.add(g_.maker(z));
    const polynomial product = *polynomial::variable(0).times(polynomial::variable(1));
    if (const int root = product_with_gate(n, x, product.times(1 / high), of); root >= 0) {
      g_.rewrite(root, "hard_swish", {{"X", {x}}},
                 {program_graph::real_attribute("threshold", high),
                  program_graph::real_attribute("scale", high),
                  program_graph::real_attribute("offset", moved->bias)});
      return true;
    }
    if (!g_.is_read_once(y) || !g_.is_read_once(z)) return false;
    const int last = g_.value(y).readers[0];
    const auto divided = affine(g_, last);
    if (!divided || divided->x != y || divided->bias != 0 ||
        !is_near(divided->factor * high, 1, type) || !fits_attribute(divided->factor, type) ||
        !fits_attribute(moved->bias * divided->factor, type))
      return false;
    g_.rewrite(last, "hard_sigmoid", {{"X", {x}}},
               {program_graph::real_attribute("slope", divided->factor),
                program_graph::real_attribute("offset", moved->bias * divided->factor)});
    return true;
  }
  // x hard_sigmoid(x).
  bool hard_swish(int n) {
    if (!is_function(n)) return false;
    const int x = g_.node(n).input("X");
    const double slope = g_.real(g_.node(n), "slope"), offset = g_.real(g_.node(n), "offset");
    if (!(slope > 0)) return false;
    // A slope of 1 / 6 as a float is exact enough for floats only.
    const double threshold = double(static_cast<float>(1 / slope));
    const double moved = double(static_cast<float>(offset * threshold));
    const dtype type = g_.type(x);
    if (!is_near(threshold * slope, 1, type) || !is_near(moved, offset / slope, type)) return false;
    const polynomial wanted = *polynomial::variable(0).times(polynomial::variable(1));
    const int root = product_with_gate(n, x, wanted, {});
    if (root < 0) return false;
    g_.rewrite(root, "hard_swish", {{"X", {x}}},
               {program_graph::real_attribute("threshold", threshold),
                program_graph::real_attribute("scale", threshold),
                program_graph::real_attribute("offset", moved)});
    return true;
  }

  // log(1 + e^x) and log(sigmoid(x)).
  bool of_logarithm(int n) {
    const int z = g_.node(n).input("X"), out = g_.node(n).output("Out");
    if (!g_.is_read_once(z) || !g_.is_stable(out) || !lamina::is_real(g_.type(z))) return false;
    if (const int s = g_.maker(z, "sigmoid"); s >= 0 && g_.is_stable(g_.node(s).input("X"))) {
      g_.rewrite(n, "logsigmoid", {{"X", {g_.node(s).input("X")}}}, {});
      return true;
    }
    const auto sum = affine(g_, g_.maker(z));
    if (!sum || sum->factor != 1 || sum->bias != 1 || !g_.is_read_once(sum->x)) return false;
    const int e = g_.maker(sum->x, "exp");
    if (e < 0 || !g_.is_stable(g_.node(e).input("X"))) return false;
    g_.rewrite(n, "softplus", {{"X", {g_.node(e).input("X")}}}, {});
    return true;
  }
  // x / (1 + |x|).
  bool softsign(int n) {
    const int x = g_.node(n).input("X"), y = g_.node(n).input("Y");
    if (!g_.is_stable(x) || !g_.is_read_once(y) || g_.dims(x) != g_.dims(y) ||
        !g_.is_stable(g_.node(n).output("Out")))
      return false;
    const auto sum = affine(g_, g_.maker(y));
    if (!sum || sum->factor != 1 || sum->bias != 1 || !g_.is_read_once(sum->x)) return false;
    const int size = g_.maker(sum->x, "abs");
    if (size < 0 || g_.node(size).input("X") != x) return false;
    g_.rewrite(n, "softsign", {{"X", {x}}}, {});
    return true;
  }

  program_graph& g_;
};

}}}  // namespace lamina::passes
