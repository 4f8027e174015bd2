// SPDX-License-Identifier: Apache-2.0
// lamina/io/simplify/norm_passes.hpp - layer_norm and rms_norm that several operators compute.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <lamina/io/simplify/graph_patterns.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace passes {

/// A product of x with 1 / sqrt(mean + epsilon), where the mean has one number for each slice of
/// the last dimensions of x.
struct normalisation {
  int centred;  // the value that is multiplied
  int mean;     // the number of the operator reduce_mean
  double epsilon;
  int root;        // the operator sqrt or rsqrt
  int reciprocal;  // the operator reciprocal after sqrt, or -1
  region nodes{};
};

/// Finds normalisations of the last dimensions.
class norm_pass {
 public:
  explicit norm_pass(program_graph& g) : g_(g) {}

  /// Finds (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon), times a scale and plus a bias if
  /// they have an element for each normalised one, and writes layer_norm.
  int layer_norm() {
    int applied = 0;
    for (int n = 0; n < g_.node_count(); ++n)
      if (!g_.node(n).is_removed && layer_norm(n)) ++applied;
    return applied;
  }
  /// Finds x / sqrt(mean(x^2) + epsilon) in its other forms (a product with rsqrt or with a
  /// reciprocal), and writes the operators that layer::rms_norm records.
  int rms_norm() {
    int applied = 0;
    for (int n = 0; n < g_.node_count(); ++n)
      if (!g_.node(n).is_removed && rms_norm(n)) ++applied;
    return applied;
  }

 private:
  // Returns the first of the last dimensions along which a reduce_mean computes means, or -1.
  int first_axis(int n) const {
    const graph_node& op = g_.node(n);
    const int x = op.input("X");
    if (!g_.is_real(x) || op.inputs.size() != 1) return -1;
    const int rank = static_cast<int>(g_.dims(x).size());
    std::vector<bool> reduced(g_.dims(x).size(), g_.flag(op, "reduce_all"));
    extents axes = g_.integers(op, "dim");
    if (axes.empty()) axes.push_back(0);
    for (std::int64_t a : axes) {
      a += a < 0 ? rank : 0;
      if (a < 0 || a >= rank) return -1;
      reduced[static_cast<std::size_t>(a)] = true;
    }
    int first = rank;
    while (first > 0 && reduced[static_cast<std::size_t>(first - 1)]) --first;
    for (int d = 0; d < first; ++d)
      if (reduced[static_cast<std::size_t>(d)]) return -1;
    for (int d = first; d < rank; ++d)
      if (g_.dims(x)[static_cast<std::size_t>(d)] < 1) return -1;
    return first == rank ? -1 : first;
  }
  // Whether operand Y of an elementwise operator has one number for each slice of X from `axis` on.
  bool is_per_slice(const graph_node& op, int axis) const {
    const auto found = aligned(g_, op);
    if (!found) return false;
    extents wanted = g_.dims(op.input("X"));
    std::fill(wanted.begin() + axis, wanted.end(), 1);
    return *found == wanted;
  }
  // Returns the operator reduce_mean that computes v, without dimensions of extent 1, or -1.
  int mean_of(int v, region& of) const {
    const int n = g_.maker(before_unit_dims(g_, v, of), "reduce_mean");
    if (n >= 0) of.add(n);
    return n;
  }

  // Whether operator n computes a normalisation of its operand X.
  std::optional<normalisation> found(int n) const {
    const graph_node& op = g_.node(n);
    const bool divides = op.type() == "elementwise_div";
    if (!divides && !is_product(op)) return std::nullopt;
    const int x = op.input("X"), y = op.input("Y"), out = op.output("Out");
    if (!g_.is_real(x) || !g_.is_real(y) || !g_.is_stable(x) || !g_.is_stable(out) ||
        g_.type(x) != g_.type(out) || g_.dims(x) != g_.dims(out))
      return std::nullopt;
    normalisation made{x, -1, 0, -1, -1, {}};
    int v = before_unit_dims(g_, y, made.nodes);
    if (!divides) {
      made.reciprocal = g_.maker(v, "reciprocal");
      if (made.reciprocal >= 0) {
        made.nodes.add(made.reciprocal);
        v = before_unit_dims(g_, g_.node(made.reciprocal).input("X"), made.nodes);
      }
    }
    const bool inverts = !divides && made.reciprocal < 0;
    made.root = g_.maker(v, inverts ? "rsqrt" : "sqrt");
    if (made.root < 0) return std::nullopt;
    made.nodes.add(made.root);
    v = before_unit_dims(g_, g_.node(made.root).input("X"), made.nodes);
    const int sum = g_.maker(v);
    const auto moved = affine(g_, sum);
    if (!moved || moved->factor != 1 || !(moved->bias > 0) ||
        !fits_attribute(moved->bias, g_.type(x)))
      return std::nullopt;
    made.nodes.add(sum);
    made.epsilon = moved->bias;
    made.mean = mean_of(moved->x, made.nodes);
    if (made.mean < 0) return std::nullopt;
    const int axis = first_axis(made.mean);
    if (axis < 0 || g_.dims(g_.node(made.mean).input("X")) != g_.dims(x) || !is_per_slice(op, axis))
      return std::nullopt;
    return made;
  }
  // Returns the value whose squares v has, or -1.
  int root_of(int v, region& of) const {
    const int n = g_.maker(v);
    if (n < 0) return -1;
    const graph_node& op = g_.node(n);
    const bool squares =
        op.type() == "square" || (is_product(op) && op.input("X") == op.input("Y"));
    if (!squares) return -1;
    of.add(n);
    return op.input("X");
  }
  // Returns the value from which `v` is the difference to its means from dimension `axis` on, or
  // -1.
  int before_centring(int v, int axis, region& of) const {
    const int n = g_.maker(v, "elementwise_sub");
    if (n < 0) return -1;
    const graph_node& op = g_.node(n);
    const int x = op.input("X");
    if (!g_.is_stable(x) || !is_per_slice(op, axis)) return -1;
    const int mean = mean_of(op.input("Y"), of);
    if (mean < 0 || g_.node(mean).input("X") != x || first_axis(mean) != axis) return -1;
    of.add(n);
    return x;
  }

  // Whether the operand Y of an operator has an element for each normalised one.
  bool is_per_element(const graph_node& op, int axis) const {
    const auto found = aligned(g_, op);
    if (!found || !g_.is_stable(op.input("Y")) || g_.type(op.input("Y")) != g_.type(op.input("X")))
      return false;
    extents wanted = g_.dims(op.input("X"));
    std::fill(wanted.begin(), wanted.begin() + axis, 1);
    return *found == wanted;
  }
  // Returns a parameter of layer_norm: the value, as a list of its elements; or -1.
  int as_list(int v, std::int64_t n) {
    if (g_.dims(v) == extents{n}) return v;
    const tensor* elements = g_.constant(v);
    if (elements == nullptr) return -1;
    tensor list = elements->visit([&](auto a) {
      a.reshape(tensor_shape{static_cast<std::size_t>(n)});
      return tensor(std::move(a));
    });
    return g_.add_constant(g_.value(v).message.name, std::move(list));
  }
  bool can_be_list(int v, std::int64_t n) const {
    return g_.dims(v) == extents{n} || g_.constant(v) != nullptr;
  }

  bool layer_norm(int n) {
    auto norm = found(n);
    if (!norm) return false;
    region& of = norm->nodes;
    const int axis = first_axis(norm->mean);
    const int squared = root_of(g_.node(norm->mean).input("X"), of);
    if (squared < 0 || axis == 0) return false;
    const int x = before_centring(norm->centred, axis, of);
    // The difference may be computed twice.
    if (x < 0 || (squared != norm->centred && before_centring(squared, axis, of) != x))
      return false;
    of.add(n);
    if (!of.is_closed(g_, n)) return false;
    std::int64_t columns = 1;
    for (std::size_t d = static_cast<std::size_t>(axis); d < g_.dims(x).size(); ++d)
      columns *= g_.dims(x)[d];

    // The scale and the bias that follow.
    int root = n, scale = -1, bias = -1;
    const auto next = [&](bool multiplies) {
      const int v = g_.node(root).output("Out");
      if (!g_.is_read_once(v)) return -1;
      const int after = g_.value(v).readers[0];
      const graph_node& op = g_.node(after);
      const bool fits = multiplies ? is_product(op) : op.type() == "elementwise_add";
      if (!fits || op.block != g_.node(root).block || !g_.is_stable(op.output("Out"))) return -1;
      if (op.input("X") == v && is_per_element(op, axis) && can_be_list(op.input("Y"), columns)) {
        root = after;
        return op.input("Y");
      }
      return -1;
    };
    scale = next(true);
    bias = next(false);
    std::vector<graph_node::slot> inputs{{"X", {x}}};
    if (scale >= 0) inputs.push_back({"Scale", {as_list(scale, columns)}});
    if (bias >= 0) inputs.push_back({"Bias", {as_list(bias, columns)}});
    g_.rewrite(root, "layer_norm", std::move(inputs),
               {program_graph::real_attribute("epsilon", norm->epsilon),
                program_graph::integer_attribute("begin_norm_axis", axis)},
               "Y");
    return true;
  }

  bool rms_norm(int n) {
    auto norm = found(n);
    if (!norm || g_.node(n).type() == "elementwise_div") return false;
    const int squared = root_of(g_.node(norm->mean).input("X"), norm->nodes);
    if (squared < 0 || squared != norm->centred) return false;
    norm->nodes.add(n);
    if (!norm->nodes.is_closed(g_, n)) return false;
    const attribute_message axis =
        program_graph::integer_attribute("axis", g_.integer(g_.node(n), "axis"));
    const int x = g_.node(n).input("X"), y = g_.node(n).input("Y");
    if (norm->reciprocal < 0) {
      g_.rewrite(norm->root, "sqrt", g_.node(norm->root).inputs, {});
      g_.rewrite(n, "elementwise_div", {{"X", {x}}, {"Y", {y}}}, {axis});
      return true;
    }
    // The reciprocal lies between the root and the product.
    const int inverse = g_.node(norm->reciprocal).output("Out"),
              direct = g_.node(norm->reciprocal).input("X");
    if (!g_.can_merge(direct, inverse)) return false;
    g_.merge(norm->reciprocal, direct, inverse);
    const int divisor = g_.node(n).input("Y");
    g_.rewrite(n, "elementwise_div", {{"X", {x}}, {"Y", {divisor}}}, {axis});
    return true;
  }

  program_graph& g_;
};

}}}  // namespace lamina::passes
