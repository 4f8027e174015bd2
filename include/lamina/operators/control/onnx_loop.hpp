// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/onnx_loop.hpp - imports ONNX's Loop, Scan and If.
//
// A loop becomes a `while`, whose carried values are variables that an `assign` writes before the
// loop and another one at the end of the body. An If becomes a conditional_block for each branch
// and a select_input. If the number of iterations, or the condition of an If, is known during the
// import, the iterations or the branch become a part of the surrounding block.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// The largest number of operators, and of units of weight_of(), that replace a loop whose number
/// of iterations is known. Longer loops stay loops.
inline constexpr std::uint64_t most_unrolled = 1024;

inline constexpr onnx_block_operator while_operator{"while",      "Condition", "X",
                                                    "StepScopes", "is_test",   true};
inline constexpr onnx_block_operator branch_operator{
    "conditional_block", "Cond", "Input", "Scope", "is_scalar_condition", false};

/// Returns the cost of one import of a graph: 1 for each node and for each 4 KiB of its constants.
inline std::uint64_t weight_of(const onnx_graph_message& graph) {
  const auto of_tensor = [](const onnx_tensor_message& t) -> std::uint64_t {
    if (t.is_external) return most_unrolled + 1;
    const std::size_t bytes = (t.raw ? t.raw->size() : 0) + 4 * t.floats.size() +
                              8 * t.integers.size() + 8 * t.doubles.size();
    return bytes / 4096;
  };
  std::uint64_t weight = 1;
  for (const onnx_tensor_message& t : graph.initializers) weight += of_tensor(t);
  for (const onnx_node_message& node : graph.nodes) {
    ++weight;
    for (const onnx_attribute_message& a : node.attributes) {
      if (a.tensor != nullptr) weight += of_tensor(*a.tensor);
      if (a.graph != nullptr) weight += weight_of(*a.graph);
    }
    if (weight > most_unrolled) break;
  }
  return weight;
}

/// Imports one loop, whose body is a graph or a function.
class loop_import {
 public:
  /// Values that the body computes in each iteration and that are stacked after the loop: along
  /// dimension `axis` of the result, in the order of the iterations or in the opposite order.
  struct stacked_values {
    std::int64_t axis = 0;
    bool reverse = false;
  };

  explicit loop_import(onnx_import_node& node, const onnx_graph_message* graph = nullptr)
      : n(node), body(graph) {}

  onnx_import_node& n;
  const onnx_graph_message* body;  // null: only repeat() is possible
  onnx_imported trips{};           // the most iterations; without a value: no limit
  onnx_imported condition{};       // whether the first iteration runs; without a value: it does
  bool returns_condition = true;   // the first output of the body says whether another follows
  std::vector<onnx_imported> initial{};  // the values that the first iteration gets
  std::vector<stacked_values> stacked{};
  /// Adds the operators of an iteration from its number and the carried values. Returns the
  /// condition, the carried values and those that are stacked.
  std::function<std::vector<onnx_imported>(const onnx_imported& step,
                                           const std::vector<onnx_imported>& carried)>
      iterate{};

  /// Adds the loop, and gives the outputs of the node: the carried values, then the stacked ones.
  void run() {
    const std::size_t first = returns_condition ? 1 : 0;
    if (body->outputs.size() != first + initial.size() + stacked.size())
      n.fail(text("expected a body with ") << first + initial.size() + stacked.size()
                                           << " outputs, found " << body->outputs.size());
    require_one(trips, dtype::int64, "a number of iterations");
    require_one(condition, dtype::boolean, "a condition");
    if (unrolled()) return;
    const std::vector<onnx_imported> results = repeat();
    for (std::size_t i = 0; i < results.size(); ++i) n.out(i, results[i]);
  }

  /// Adds a `while`, and returns the carried values, then the stacked ones. The dimensions of a
  /// carried value which the body changes are not known; the body is imported again until its
  /// results have the dimensions that its inputs had.
  std::vector<onnx_imported> repeat() {
    std::vector<extents> dims;
    for (const onnx_imported& value : initial) dims.push_back(value.dims);
    const onnx_import::mark before = n.program().now();
    std::vector<onnx_imported> results;
    while (!add_while(dims, results)) n.program().rewind(before);
    return results;
  }

 private:
  using extents = onnx_import_node::extents;

  /// The outputs of the body in one iteration.
  struct iteration {
    onnx_imported condition{};
    std::vector<onnx_imported> carried{}, parts{};
  };

  void require_one(const onnx_imported& value, dtype type, const char* what) const {
    if (!value.has_value()) return;
    std::int64_t size = 1;
    for (const std::int64_t d : value.dims) size = d == 1 ? size : d < 0 ? size : 0;
    if (value.type != type || size != 1)
      n.fail(text("expected ") << what << " as one " << name_of(type) << ", found "
                               << name_of(value.type) << " " << value.dims_text());
  }

  iteration run_body(const onnx_imported& step, const std::vector<onnx_imported>& carried) {
    std::vector<onnx_imported> made = iterate(step, carried);
    iteration results;
    auto next = made.begin();
    if (returns_condition) {
      results.condition = *next++;
      require_one(results.condition, dtype::boolean, "a condition");
    }
    for (std::size_t i = 0; i < initial.size(); ++i, ++next) {
      const onnx_imported& before = initial[i];
      if (next->type != before.type || !same_rank(*next, before))
        n.fail(text("expected that value ")
               << i << ", which the loop carries, keeps its type and its number of dimensions, "
               << name_of(before.type) << " " << before.dims_text()
               << "; found that the body returns " << name_of(next->type) << " "
               << next->dims_text());
      results.carried.push_back(*next);
    }
    results.parts.assign(next, made.end());
    return results;
  }
  // A scalar and a list of one element are stored in the same way.
  static bool same_rank(const onnx_imported& a, const onnx_imported& b) {
    return (std::max)(a.rank(), 1) == (std::max)(b.rank(), 1);
  }

  // The dimension of a stacked result that counts the iterations.
  std::int64_t axis_of(std::size_t k, const onnx_imported& part) const {
    return n.axis(stacked[k].axis, part.rank() + 1);
  }

  static bool value_of(const onnx_imported& one) { return one.constant->cast<bool>().flat(0); }
  static bool is_true(const onnx_imported& one) {
    return !one.has_value() || (one.constant != nullptr && value_of(one));
  }

  // -- loops whose number of iterations is known --------------------------------------------------

  // Adds the iterations one after the other. Returns false, and adds nothing, if their number is
  // not known or if they add too many operators.
  bool unrolled() {
    if (trips.has_value() && trips.constant == nullptr) return false;
    if (condition.has_value() && condition.constant == nullptr) return false;
    std::int64_t most = (std::numeric_limits<std::int64_t>::max)();
    if (trips.has_value()) most = trips.constant->cast<std::int64_t>().flat(0);
    const std::uint64_t weight = weight_of(*body);
    if (trips.has_value() && !returns_condition && most > 0 &&
        static_cast<std::uint64_t>(most) > most_unrolled / weight)
      return false;
    const onnx_import::mark before = n.program().now();
    std::vector<onnx_imported> carried = initial;
    std::vector<std::vector<onnx_imported>> parts(stacked.size());
    bool goes_on = !condition.has_value() || value_of(condition);
    std::int64_t step = 0;
    for (; goes_on && step < most; ++step) {
      const bool fits = static_cast<std::uint64_t>(step) < most_unrolled / weight &&
                        n.program().operators_since(before) <= most_unrolled;
      iteration made;
      if (fits) made = run_body(n.number(static_cast<double>(step), dtype::int64), carried);
      if (!fits || (returns_condition && made.condition.constant == nullptr)) {
        n.program().rewind(before);
        return false;
      }
      goes_on = !returns_condition || value_of(made.condition);
      carried = std::move(made.carried);
      for (std::size_t k = 0; k < parts.size(); ++k) parts[k].push_back(made.parts[k]);
    }
    for (std::size_t i = 0; i < carried.size(); ++i) n.out(i, carried[i]);
    for (std::size_t k = 0; k < parts.size(); ++k)
      if (n.wants(carried.size() + k)) n.out(carried.size() + k, stack(k, std::move(parts[k])));
    return true;
  }

  onnx_imported stack(std::size_t k, std::vector<onnx_imported> parts) {
    if (parts.empty()) return empty(k);
    for (onnx_imported& part : parts) {
      if (part.type != parts[0].type || part.rank() + 1 != parts[0].rank() + (&part == &parts[0]))
        n.fail(
            "expected values of one type and number of dimensions in all iterations, found "
            "others");
      part = n.unsqueeze(part, {axis_of(k, part)});
    }
    const std::int64_t axis = n.axis(stacked[k].axis, parts[0].rank());
    for (const onnx_imported& part : parts)
      for (std::size_t d = 0; d < part.dims.size(); ++d)
        if (part.dims[d] >= 0 && parts[0].dims[d] >= 0 && part.dims[d] != parts[0].dims[d])
          n.fail(text("expected values of the same dimensions in all iterations, found ")
                 << parts[0].dims_text() << " and " << part.dims_text()
                 << ", with a dimension for the iteration");
    if (stacked[k].reverse) std::reverse(parts.begin(), parts.end());
    return n.concat(parts, axis);
  }
  // The values of no iteration, of the dimensions that the body states; 0 for others.
  onnx_imported empty(std::size_t k) const {
    const onnx_value_message& stated = body->outputs[body->outputs.size() - stacked.size() + k];
    const std::optional<dtype> type = dtype_of_onnx(stated.type);
    if (!stated.is_tensor || !type || !stated.has_shape || stated.dims.size() > 15)
      n.fail("expected a type and dimensions of output '" + stated.name +
             "' of a body that no iteration runs, found none");
    extents dims = stated.dims;
    for (std::int64_t& d : dims) d = (std::max)(d, std::int64_t{0});
    dims.insert(dims.begin() + n.axis(stacked[k].axis, static_cast<int>(dims.size()) + 1), 0);
    return n.filled(0, *type, dims);
  }

  // -- loops as a while ---------------------------------------------------------------------------

  void assign(const onnx_imported& to, const onnx_imported& value) {
    n.program().write("assign", {{"X", value}}, {}, {{"Out", to}}, n.message().offset);
  }

  // Whether a node may read stacked value k.
  bool wants(std::size_t k) const { return body == nullptr || n.wants(initial.size() + k); }

  // Returns false if dimensions of carried values change, which `dims` then has as unknown.
  bool add_while(std::vector<extents>& dims, std::vector<onnx_imported>& results) {
    onnx_import& program = n.program();
    const std::uint64_t offset = n.message().offset;
    std::vector<onnx_imported> carried, arrays;
    for (std::size_t i = 0; i < initial.size(); ++i) {
      carried.push_back(program.declare(initial[i].type, dims[i], offset));
      assign(carried.back(), initial[i]);
    }
    for (std::size_t k = 0; k < stacked.size(); ++k)
      arrays.push_back(
          program.declare(dtype::float32, {}, offset, variable_class::lod_tensor_array));
    const onnx_imported step = program.declare(dtype::int64, {}, offset),
                        going = program.declare(dtype::boolean, {}, offset);
    assign(step, n.number(0, dtype::int64));
    assign(going, goes_on(n.number(0, dtype::int64), condition));

    const int block = program.begin_block();
    iteration made = run_body(step, carried);
    if (widened(made.carried, dims)) return false;
    for (std::size_t k = 0; k < stacked.size(); ++k) {
      if (!wants(k)) continue;
      program.describe(arrays[k], made.parts[k].type, made.parts[k].dims);
      const onnx_imported at =
          stacked[k].reverse ? n.sub(n.sub(trips, n.number(1, dtype::int64)), step) : step;
      program.write("write_to_array", {{"X", made.parts[k]}, {"I", at}}, {}, {{"Out", arrays[k]}},
                    offset);
    }
    // All variables are read before the first one is written.
    const auto is_written = [&](const onnx_imported& value) {
      bool found = value.variable == step.variable || value.variable == going.variable;
      for (const onnx_imported& c : carried) found = found || value.variable == c.variable;
      return found && value.variable >= 0;
    };
    for (std::size_t i = 0; i < carried.size(); ++i)
      if (is_written(made.carried[i]) && made.carried[i].variable != carried[i].variable)
        made.carried[i] = n.unary("assign", made.carried[i]);
    const onnx_imported next = n.add(step, n.number(1, dtype::int64));
    onnx_imported follows = goes_on(next, made.condition);
    if (is_written(follows)) follows = n.unary("assign", follows);
    for (std::size_t i = 0; i < carried.size(); ++i)
      if (made.carried[i].variable != carried[i].variable) assign(carried[i], made.carried[i]);
    assign(step, next);
    assign(going, follows);
    program.end_block();
    program.run_block(while_operator, block, going, offset);

    results = carried;
    results.resize(carried.size() + stacked.size());
    for (std::size_t k = 0; k < stacked.size(); ++k) {
      if (!wants(k)) continue;
      const onnx_imported& part = made.parts[k];
      const std::int64_t axis = axis_of(k, part);
      extents all = program.visible(part.dims);
      // With a condition, fewer iterations than `trips` may run.
      const bool all_run =
          trips.constant != nullptr && is_true(condition) && is_true(made.condition);
      all.insert(all.begin() + axis,
                 all_run ? trips.constant->cast<std::int64_t>().flat(0) : unknown_extent);
      results[carried.size() + k] =
          n.make("tensor_array_to_tensor", {{"X", arrays[k]}},
                 {{"axis", static_cast<int>(axis)}, {"use_stack", true}}, part.type, all);
    }
    return true;
  }

  // Whether iteration `step` runs, if `holds`, which may be absent, is true.
  onnx_imported goes_on(const onnx_imported& step, const onnx_imported& holds) {
    const bool always = is_true(holds);
    if (!trips.has_value() && !always) return holds;
    if (!trips.has_value()) return onnx_import::constant(tensor::filled<bool>({}, true));
    const onnx_imported below = n.binary("less_than", step, trips, dtype::boolean);
    return always ? below : n.binary("logical_and", below, holds, dtype::boolean);
  }

  // Whether results of the body have other dimensions than its inputs; these dimensions of the
  // inputs then become unknown. A symbol would say that all iterations have the same number.
  static bool widened(const std::vector<onnx_imported>& results, std::vector<extents>& dims) {
    bool any = false;
    for (std::size_t i = 0; i < results.size(); ++i)
      for (std::size_t d = 0; d < dims[i].size() && d < results[i].dims.size(); ++d)
        if (dims[i][d] != unknown_extent && results[i].dims[d] != dims[i][d]) {
          dims[i][d] = unknown_extent;
          any = true;
        }
    return any;
  }
};

/// The body of a Loop gets the number of the iteration, a condition, which is true, and the carried
/// values. As in ONNX Runtime, the condition that the body returns counts also if the node has
/// none.
inline void raise_loop(onnx_import_node& n) {
  loop_import loop(n, &n.graph("body"));
  loop.trips = n.optional(0);
  loop.condition = n.optional(1);
  for (std::size_t i = 2; i < n.count(); ++i) loop.initial.push_back(n.in(i));
  const std::size_t outputs = loop.body->outputs.size();
  if (outputs < loop.initial.size() + 1)
    n.fail(text("expected a body with a condition and ")
           << loop.initial.size() << " carried values as outputs, found " << outputs << " outputs");
  loop.stacked.resize(outputs - loop.initial.size() - 1);
  loop.iterate = [&](const onnx_imported& step, const std::vector<onnx_imported>& carried) {
    std::vector<onnx_imported> all{step, onnx_import::constant(tensor::filled<bool>({}, true))};
    all.insert(all.end(), carried.begin(), carried.end());
    return n.import_graph(*loop.body, all);
  };
  loop.run();
}

/// Returns the integers of an attribute with one for each of `count` values, or zeros.
inline std::vector<std::int64_t> one_for_each(const onnx_import_node& n, const char* attribute,
                                              std::size_t count) {
  std::vector<std::int64_t> values = n.integers(attribute);
  if (values.empty()) values.assign(count, 0);
  if (values.size() != count)
    n.fail(text("expected ") << count << " integers in attribute '" << attribute << "', found "
                             << values.size());
  return values;
}

/// The body of a Scan gets the carried values, and the elements of the scanned values along a
/// dimension.
inline void raise_scan(onnx_import_node& n) {
  if (n.version() < 9)
    n.fail(text("expected a Scan of version 9 or later of ONNX's operators, found ")
           << n.version());
  loop_import loop(n, &n.graph("body"));
  const std::int64_t scans = n.integer("num_scan_inputs");
  if (scans < 1 || scans > static_cast<std::int64_t>(n.count()))
    n.fail(text("expected num_scan_inputs from 1 to ") << n.count() << ", found " << scans);
  const std::size_t scanned = static_cast<std::size_t>(scans), carried = n.count() - scanned;
  for (std::size_t i = 0; i < carried; ++i) loop.initial.push_back(n.in(i));
  const std::vector<std::int64_t> axes = one_for_each(n, "scan_input_axes", scanned),
                                  turned = one_for_each(n, "scan_input_directions", scanned);
  std::vector<onnx_imported> lists;
  for (std::size_t k = 0; k < scanned; ++k) {
    const onnx_imported& x = n.in(carried + k);
    n.require_rank(x, 1, 16);
    lists.push_back(n.transpose(x, n.moved(x.rank(), n.axis(axes[k], x.rank()), 0)));
    // All known numbers of elements must agree.
    const onnx_imported extent = n.extent_of(lists.back(), 0);
    if (loop.trips.constant != nullptr && extent.constant != nullptr &&
        lists.back().dims[0] != loop.trips.constant->cast<std::int64_t>().flat(0))
      n.fail(text("expected scanned values with ")
             << loop.trips.constant->cast<std::int64_t>().flat(0) << " elements, found "
             << lists.back().dims[0]);
    if (!loop.trips.has_value() || (loop.trips.constant == nullptr && extent.constant != nullptr))
      loop.trips = extent;
  }
  if (loop.body->outputs.size() < carried)
    n.fail(text("expected a body with ") << carried << " carried values as outputs, found "
                                         << loop.body->outputs.size() << " outputs");
  const std::size_t results = loop.body->outputs.size() - carried;
  const std::vector<std::int64_t> result_axes = one_for_each(n, "scan_output_axes", results),
                                  result_turned =
                                      one_for_each(n, "scan_output_directions", results);
  for (std::size_t k = 0; k < results; ++k)
    loop.stacked.push_back({result_axes[k], result_turned[k] != 0});
  loop.returns_condition = false;
  const onnx_imported last = n.sub(n.cast(loop.trips, dtype::int64), n.number(1, dtype::int64));
  loop.iterate = [&](const onnx_imported& step, const std::vector<onnx_imported>& values) {
    std::vector<onnx_imported> all = values;
    for (std::size_t k = 0; k < lists.size(); ++k)
      all.push_back(n.gather(lists[k], turned[k] != 0 ? n.sub(last, step) : step, 0));
    return n.import_graph(*loop.body, all);
  };
  loop.run();
}

/// A branch whose condition is known becomes a part of the graph around it.
inline void raise_if(onnx_import_node& n) {
  const onnx_imported& condition = n.in(0);
  const std::size_t count = n.message().outputs.size();
  const auto require_outputs = [&](const onnx_graph_message& graph) {
    if (graph.outputs.size() != count)
      n.fail(text("expected ") << count << " outputs of its branch, found "
                               << graph.outputs.size());
  };
  if (condition.constant != nullptr) {
    if (condition.constant->size() != 1)
      n.fail(text("expected a condition of one element, found ") << condition.constant->size());
    const onnx_graph_message& graph =
        n.graph(condition.constant->cast<bool>().flat(0) ? "then_branch" : "else_branch");
    require_outputs(graph);
    std::vector<onnx_imported> results = n.import_graph(graph, {});
    for (std::size_t i = 0; i < count; ++i) n.out(i, std::move(results[i]));
    return;
  }
  for (const std::int64_t d : condition.dims)
    if (d != 1 && d >= 0)
      n.fail("expected a condition of one element, found dimensions " + condition.dims_text());
  onnx_import& program = n.program();
  const std::uint64_t offset = n.message().offset;
  std::vector<onnx_imported> of_branch[2];
  for (const bool holds : {false, true}) {
    const onnx_graph_message& graph = n.graph(holds ? "then_branch" : "else_branch");
    require_outputs(graph);
    const onnx_imported runs = holds ? condition : n.unary("logical_not", condition);
    std::vector<onnx_imported>& outputs = of_branch[holds ? 1 : 0];
    for (std::size_t i = 0; i < count; ++i)
      outputs.push_back(program.declare(dtype::float32, {}, offset));
    const int block = program.begin_block();
    const std::vector<onnx_imported> results = n.import_graph(graph, {});
    for (std::size_t i = 0; i < count; ++i) {
      program.describe(outputs[i], results[i].type, results[i].dims);
      program.write("assign", {{"X", results[i]}}, {}, {{"Out", outputs[i]}}, offset);
    }
    program.end_block();
    program.run_block(branch_operator, block, runs, offset);
  }
  const onnx_imported chosen = n.cast(condition, dtype::int32);
  for (std::size_t i = 0; i < count; ++i) {
    const onnx_imported &no = of_branch[0][i], &yes = of_branch[1][i];
    if (no.type != yes.type || (std::max)(no.rank(), 1) != (std::max)(yes.rank(), 1))
      n.fail(text("expected branches whose output ")
             << i << " has one type and number of dimensions, found " << name_of(yes.type) << " "
             << yes.dims_text() << " and " << name_of(no.type) << " " << no.dims_text());
    std::vector<std::int64_t> dims = yes.dims;
    for (std::size_t d = 0; d < dims.size() && d < no.dims.size(); ++d)
      if (dims[d] != no.dims[d]) dims[d] = unknown_extent;
    n.out(i, n.make("select_input", {{"X", std::vector<onnx_imported>{no, yes}}, {"Mask", chosen}},
                    {}, yes.type, dims));
  }
}

inline void add_control_loop(onnx_operators& to) {
  to.add_node("Loop", raise_loop);
  to.add_node("Scan", raise_scan);
  to.add_node("If", raise_if);
}

}}}  // namespace lamina::onnx
