// SPDX-License-Identifier: Apache-2.0
// lamina/io/simplify/shape_passes.hpp - removes operators that return their operand, and combines
// reshapes and transposes that follow one another; takes an operand of a stack in place of its
// slice.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <lamina/io/simplify/graph_patterns.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace passes {

/// Whether two lists of dimensions are the same in every run: at most one is unknown.
inline bool same_dims(const extents& a, const extents& b) {
  return a == b && std::count(a.begin(), a.end(), -1) <= 1 &&
         std::find(a.begin(), a.end(), 0) == a.end();
}
/// Whether an operator changes only the shape, by attributes.
inline bool is_reshape(const program_graph& g, const graph_node& n) {
  if (n.type() != "reshape2" && n.type() != "squeeze2" && n.type() != "unsqueeze2" &&
      n.type() != "flatten2")
    return false;
  for (const graph_node::slot& s : n.inputs)
    if (s.name != "X" && !s.values.empty()) return false;  // a shape that a run computes
  const int x = n.input("X"), out = n.output("Out"), shape = n.output("XShape");
  if (shape >= 0 && (!g.is_inner(shape) || !g.value(shape).readers.empty())) return false;
  return g.is_stable(x) && g.is_stable(out) && g.value(x).message.lod_level == 0 &&
         g.value(out).message.lod_level == 0;
}
/// Returns the order of a transpose as numbers without a sign; empty for another operator.
inline extents order_of(const program_graph& g, int n) {
  if (n < 0 || g.node(n).type() != "transpose2") return {};
  const graph_node& op = g.node(n);
  const int x = op.input("X"), out = op.output("Out"), shape = op.output("XShape");
  if (!g.is_stable(x) || !g.is_stable(out) || g.value(x).message.lod_level > 0) return {};
  if (shape >= 0 && (!g.is_inner(shape) || !g.value(shape).readers.empty())) return {};
  extents order = g.integers(op, "axis");
  if (order.size() != g.dims(x).size()) return {};
  for (std::int64_t& d : order) d += d < 0 ? static_cast<std::int64_t>(order.size()) : 0;
  return order;
}

/// Whether an operator returns its operand X without a change.
inline bool is_identity(const program_graph& g, int n) {
  const graph_node& op = g.node(n);
  const int x = op.input("X"), out = op.output("Out");
  if (!g.is_stable(x) || !g.is_stable(out) || g.type(x) != g.type(out)) return false;
  const std::string& type = op.type();
  if (type == "assign") return true;
  if (type == "cast") return true;
  if (type == "dropout")
    return g.flag(op, "is_test") &&
           (op.output("Mask") < 0 || g.value(op.output("Mask")).readers.empty()) &&
           (g.text(op, "dropout_implementation") == "upscale_in_train" ||
            g.real(op, "dropout_prob") == 0);
  if (type == "concat" || type == "sum") {
    for (const graph_node::slot& s : op.inputs)
      if (s.name != "X" ? !s.values.empty() : s.values.size() != 1) return false;
    return true;
  }
  if (type == "expand") {
    const extents times = g.integers(op, "expand_times");
    return op.inputs.size() == 1 && !times.empty() && times.size() == g.dims(x).size() &&
           std::count(times.begin(), times.end(), 1) == static_cast<std::int64_t>(times.size());
  }
  if (type == "pad") {
    const extents pads = g.integers(op, "paddings");
    return std::count(pads.begin(), pads.end(), 0) == static_cast<std::int64_t>(pads.size());
  }
  if (type == "transpose2") {
    const extents order = order_of(g, n);
    for (std::size_t d = 0; d < order.size(); ++d)
      if (order[d] != static_cast<std::int64_t>(d)) return false;
    return !order.empty();
  }
  if (is_reshape(g, op)) return same_dims(g.dims(x), g.dims(out));
  if (type != "scale") return false;
  const auto a = affine(g, n);
  return a && a->factor == 1 && a->bias == 0;
}

/// Removes operators that return their operand: assign, casts to the same type, dropout in test
/// mode, reshapes to the same shape, transposes that keep the order, and others. A dropout that
/// scales becomes a scale.
inline int remove_identities(program_graph& g) {
  int applied = 0;
  for (int n = 0; n < g.node_count(); ++n) {
    const graph_node& op = g.node(n);
    if (op.is_removed) continue;
    const int x = op.input("X"), out = op.output("Out");
    if (x < 0 || out < 0) continue;
    if (is_identity(g, n)) {
      if (!g.can_merge(x, out)) continue;
      g.merge(n, x, out);
      ++applied;
    } else if (op.type() == "dropout" && g.flag(op, "is_test") && g.is_stable(x) &&
               g.is_stable(out) &&
               (op.output("Mask") < 0 || g.value(op.output("Mask")).readers.empty())) {
      const double kept = 1 - g.real(op, "dropout_prob");
      if (!fits_attribute(kept, g.type(out))) continue;
      g.rewrite(n, "scale", {{"X", {x}}}, {program_graph::real_attribute("scale", kept)});
      ++applied;
    }
  }
  return applied;
}

/// Combines two transposes, or two reshapes, that follow one another; writes a transpose that only
/// moves dimensions of extent 1 as a reshape; and moves a function of each element before a
/// reshape, if another reshape follows it (as in convolutions of signals, which are images of
/// height 1). If a program reads one slice of a stack, such as the last state of a recurrence, the
/// pass puts the operand that is this slice in its place. A shuffle of the channels of a concat (as
/// in ShuffleNet) becomes a stack.
class shape_pass {
 public:
  explicit shape_pass(program_graph& g) : g_(g) {}

  int run() {
    int applied = 0;
    for (int n = 0; n < g_.node_count(); ++n)
      if (!g_.node(n).is_removed &&
          (transposes(n) || reshapes(n) || functions(n) || slices(n) || shuffles(n)))
        ++applied;
    return applied;
  }

 private:
  bool transposes(int n) {
    const extents second = order_of(g_, n);
    if (second.empty()) return false;
    const int x = g_.node(n).input("X"), out = g_.node(n).output("Out");
    const int before = g_.maker(x);
    const extents first = order_of(g_, before);
    if (!first.empty() && g_.is_read_once(x)) {
      extents both;
      for (const std::int64_t d : second) both.push_back(first[static_cast<std::size_t>(d)]);
      g_.rewrite(n, "transpose2", {{"X", {g_.node(before).input("X")}}},
                 {program_graph::list_attribute("axis", both)});
      return true;
    }
    // Dimensions of extent 1 may stand anywhere.
    std::int64_t last = -1;
    for (const std::int64_t d : second) {
      if (g_.dims(x)[static_cast<std::size_t>(d)] == 1) continue;
      if (d < last) return false;
      last = d;
    }
    return as_reshape(n, x, out);
  }
  bool reshapes(int n) {
    if (!is_reshape(g_, g_.node(n))) return false;
    const int x = g_.node(n).input("X"), before = g_.maker(x);
    if (before < 0 || !is_reshape(g_, g_.node(before)) || !g_.is_read_once(x)) return false;
    return as_reshape(n, g_.node(before).input("X"), g_.node(n).output("Out"));
  }
  // squeeze -> function -> unsqueeze: the function is computed before, and the reshapes cancel.
  bool functions(int n) {
    if (!is_reshape(g_, g_.node(n))) return false;
    const int y = g_.node(n).input("X"), out = g_.node(n).output("Out"), f = g_.maker(y);
    if (f < 0 || !g_.is_read_once(y)) return false;
    const std::vector<const operator_schema*>& forms = known_operators().forms(g_.node(f).type());
    if (forms.empty() || forms[0]->kind != operator_kind::pointwise || forms[0]->input_count != 1 ||
        forms[0]->has_lists || g_.node(f).inputs.size() != 1)
      return false;
    const int x = g_.node(f).input("X"), r = g_.maker(x);
    if (r < 0 || !g_.is_read_once(x) || !is_reshape(g_, g_.node(r))) return false;
    const int from = g_.node(r).input("X");
    if (!same_dims(g_.dims(from), g_.dims(out)) || g_.type(from) != g_.type(x)) return false;
    if (g_.value(out).is_kept && g_.value(out).block != g_.value(y).block) return false;
    g_.set_input(f, "X", from);
    g_.set_result(f, y, out);
    return true;
  }
  // stack -> reshapes -> gather or slice of one index: a reshape of the operand of the stack.
  bool slices(int n) {
    const graph_node& op = g_.node(n);
    const bool gathers = op.type() == "gather";
    if (!gathers && op.type() != "slice") return false;
    int x = op.input(gathers ? "X" : "Input");
    const int out = op.output("Out");
    const extents dims = g_.is_stable(x) ? g_.dims(x) : extents{};
    while (is_reshape_maker(x)) x = g_.node(g_.maker(x)).input("X");
    const int stack = g_.maker(x, "stack");
    if (stack < 0 || g_.node(stack).inputs.size() != 1 || !g_.is_stable(out) ||
        g_.integer(g_.node(stack), "axis") != 0)
      return false;
    const std::vector<int>& all = g_.node(stack).inputs[0].values;
    const auto count = static_cast<std::int64_t>(all.size());
    std::size_t axis = 0;  // of dims that the stack has as dimension 0
    while (!gathers && axis + 1 < dims.size() && dims[axis] == 1 && count > 1) ++axis;
    if (axis >= dims.size() || dims[axis] != count) return false;
    std::int64_t begin, end;
    if (gathers) {
      const std::optional<std::int64_t> at = g_.index_number(op.input("Index"));
      if (!at) return false;
      begin = *at, end = begin + 1;
    } else {
      const extents starts = g_.integers(op, "starts"), ends = g_.integers(op, "ends");
      if (op.inputs.size() != 1 ||
          g_.integers(op, "axes") != extents{static_cast<std::int64_t>(axis)} ||
          starts.size() != 1 || ends.size() != 1)
        return false;
      begin = starts[0] < 0 ? starts[0] + count : starts[0];
      end = (std::min)(ends[0] < 0 ? ends[0] + count : ends[0], count);
    }
    if (begin < 0 || end != begin + 1 || end > count) return false;
    const int slice = all[static_cast<std::size_t>(begin)];
    return g_.is_stable(slice) && g_.value(slice).block == g_.value(x).block &&
           g_.value(x).block == op.block && g_.type(slice) == g_.type(out) &&
           as_reshape(n, slice, out);
  }
  // concat -> reshape that divides the channels of its inputs -> transpose of both: a stack.
  bool shuffles(int n) {
    const extents order = order_of(g_, n);
    if (order.empty()) return false;
    const int divided = g_.node(n).input("X"), out = g_.node(n).output("Out");
    if (!g_.is_read_once(divided) || !is_reshape_maker(divided)) return false;
    const int joined = g_.node(g_.maker(divided)).input("X"), concat = g_.maker(joined, "concat");
    if (concat < 0 || !g_.is_read_once(joined) || g_.node(concat).inputs.size() != 1 ||
        g_.node(concat).block != g_.node(n).block)
      return false;
    const std::vector<int> parts = g_.node(concat).inputs[0].values;
    extents whole = g_.dims(joined);
    std::int64_t axis = g_.integer(g_.node(concat), "axis");
    axis += axis < 0 ? static_cast<std::int64_t>(whole.size()) : 0;
    if (axis < 0 || axis >= static_cast<std::int64_t>(whole.size())) return false;
    const auto count = static_cast<std::int64_t>(parts.size());
    for (const int part : parts)
      if (!g_.is_stable(part) || g_.value(part).block != g_.value(joined).block ||
          g_.dims(part).size() != whole.size() ||
          g_.dims(part)[static_cast<std::size_t>(axis)] * count !=
              whole[static_cast<std::size_t>(axis)])
        return false;
    whole[static_cast<std::size_t>(axis)] /= count;
    whole.insert(whole.begin() + axis, count);
    if (!same_dims(whole, g_.dims(divided))) return false;
    for (std::int64_t d = 0; d < static_cast<std::int64_t>(order.size()); ++d)
      if (order[static_cast<std::size_t>(d)] != (d == axis ? d + 1 : d == axis + 1 ? d - 1 : d))
        return false;
    if (g_.type(out) != g_.type(joined)) return false;
    g_.rewrite(n, "stack", {{"X", parts}}, {program_graph::integer_attribute("axis", axis + 1)},
               "Y");
    return true;
  }
  bool is_reshape_maker(int v) const {
    const int n = g_.maker(v);
    return n >= 0 && is_reshape(g_, g_.node(n)) && g_.node(n).block == g_.value(v).block;
  }
  // Lets operator n compute `out` from x by one reshape.
  bool as_reshape(int n, int x, int out) {
    extents dims = g_.dims(out);
    if (std::count(dims.begin(), dims.end(), -1) > 1 || dims.empty()) return false;
    if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return false;
    for (const std::int64_t d : g_.dims(x))
      if (d == 0) return false;
    if (g_.value(x).message.lod_level > 0) return false;
    g_.rewrite(n, "reshape2", {{"X", {x}}}, {program_graph::list_attribute("shape", dims)});
    return true;
  }

  program_graph& g_;
};

}}}  // namespace lamina::passes
