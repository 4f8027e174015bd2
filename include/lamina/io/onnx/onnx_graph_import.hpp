// SPDX-License-Identifier: Apache-2.0
// lamina/io/onnx/onnx_graph_import.hpp - imports the graph of an ONNX model: values, the order of
// nodes, functions of the model, and the graphs of loops and branches.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/io/onnx/onnx_import.hpp>
#include <lamina/io/onnx/onnx_import_node.hpp>
#include <lamina/io/onnx/onnx_lists.hpp>
#include <lamina/io/onnx/onnx_model_message.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/io/onnx/onnx_tensor_reader.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The versions of ONNX's operator set whose models are imported.
inline constexpr std::int64_t first_onnx_opset = 6;
inline constexpr std::int64_t last_onnx_opset = 28;

/// Extents for dimensions of inputs that a file does not state.
struct onnx_extents {
  std::map<std::string, std::int64_t> by_name{};  // of symbolic dimensions
  std::int64_t first = -1;  // of a first dimension without a name in `by_name`; -1: unknown
};

/// Imports one model.
class onnx_graph_import {
 public:
  using fixed_values = std::map<std::string, tensor>;

  onnx_graph_import(const onnx_model_message& model, const onnx_operators& operators,
                    onnx_import& to, const fixed_values& fixed, const onnx_extents& extents = {})
      : model_(model),
        operators_(operators),
        to_(to),
        fixed_(fixed),
        extents_(extents),
        tensors_(to.file()) {
    for (const onnx_function_message& f : model.functions)
      functions_.emplace(key_of(f.domain, f.name, f.overload), &f);
  }

  /// Adds the operators of the whole graph to the program.
  void run() {
    const onnx_graph_message& graph = model_.graph;
    const std::int64_t version = version_of(model_.opsets, "");
    if (version != 0 && (version < first_onnx_opset || version > last_onnx_opset))
      fail(0, text("expected version ") << first_onnx_opset << " to " << last_onnx_opset
                                        << " of ONNX's operators, found " << version);
    refuse_unknown(graph.nodes);
    values main{{}, nullptr};
    read_initializers(graph, main);
    std::set<std::string> unused;
    for (const auto& [name, value] : fixed_) unused.insert(name);
    for (const onnx_value_message& input : graph.inputs) {
      unused.erase(input.name);
      read_input(input, main);
    }
    require_dim_names(graph);
    if (!unused.empty())
      throw error("lamina: " + to_.file() +
                  ": expected fixed values for inputs of the model, found '" + *unused.begin() +
                  "'");
    import_nodes(graph.nodes, main, model_.opsets);
    std::set<std::string> seen;
    for (const onnx_value_message& output : graph.outputs) {
      require_name(output.name, output.offset);
      if (!seen.insert(output.name).second)
        fail(output.offset, "expected one output '" + output.name + "', found a second one");
      to_.output(output.name, tensor_in(main, output.name, output.offset, "the outputs"),
                 output.offset);
    }
    if (graph.outputs.empty()) fail(graph.offset, "expected at least one output, found none");
  }

 private:
  struct values {
    std::map<std::string, onnx_imported> here;
    const values* outer;
  };
  // A file of a few bytes may call functions that call functions: the number of nodes that result
  // is limited.
  static constexpr std::uint64_t most_nodes = 1'000'000;
  static constexpr int deepest_call = 64;
  static constexpr int deepest_graph = 32;

  [[noreturn]] void fail(std::uint64_t offset, const std::string& what) const {
    throw format_error(to_.file(), offset, what);
  }
  static std::string key_of(const std::string& domain, const std::string& name,
                            const std::string& overload) {
    return domain + ":" + name + ":" + overload;
  }
  const onnx_function_message* function_of(const onnx_node_message& node) const {
    const auto found = functions_.find(key_of(node.domain, node.type, node.overload));
    return found == functions_.end() ? nullptr : found->second;
  }

  // Throws one error with all operators that cannot be imported.
  void refuse_unknown(const std::vector<onnx_node_message>& nodes) const {
    struct occurrence {
      std::uint64_t count = 0, offset = 0;
      std::string names{};
    };
    std::map<std::pair<std::string, std::string>, occurrence> unknown;  // type, domain
    std::set<const onnx_function_message*> read;
    std::vector<const std::vector<onnx_node_message>*> open{&nodes};
    while (!open.empty()) {
      const std::vector<onnx_node_message>& all = *open.back();
      open.pop_back();
      for (const onnx_node_message& node : all) {
        if (const onnx_function_message* f = function_of(node)) {
          if (read.insert(f).second) open.push_back(&f->nodes);
          continue;
        }
        // Only the imported branches of an If must be known.
        for (const onnx_attribute_message& a : node.attributes)
          if (a.graph != nullptr && node.type != "If") open.push_back(&a.graph->nodes);
        if (is_constant(node) || operators_.find_node(node.domain, node.type) != nullptr) continue;
        occurrence& o = unknown[{node.type, node.domain}];
        if (o.count++ == 0) o.offset = node.offset;
        if (o.count <= 3) o.names += (o.count == 1 ? "'" : ", '") + node.label() + "'";
      }
    }
    if (unknown.empty()) return;
    text what("expected operators that lamina imports, found ");
    bool first = true;
    std::uint64_t offset = 0;
    for (const auto& [of, o] : unknown) {
      what << (first ? "" : "; ") << of.first << " (domain "
           << (of.second.empty() ? std::string("ai.onnx") : of.second) << ", " << o.count
           << (o.count == 1 ? " node: " : " nodes: ") << o.names << (o.count > 3 ? ", ..." : "")
           << ")";
      if (first) offset = o.offset;
      first = false;
    }
    fail(offset, what);
  }
  static bool is_constant(const onnx_node_message& node) {
    return node.domain.empty() && node.type == "Constant";
  }

  void require_name(const std::string& name, std::uint64_t offset) const {
    if (name.empty() || name == "@EMPTY@" || name.find("@GRAD") != std::string::npos)
      fail(offset, "expected a name of an input or output without '@GRAD' and '@EMPTY@', found '" +
                       name + "'");
  }
  void read_initializers(const onnx_graph_message& graph, values& to) {
    if (graph.has_sparse_initializers)
      fail(graph.offset, "expected initializers with all elements, found a sparse one");
    for (const onnx_tensor_message& t : graph.initializers) {
      if (t.name.empty()) fail(t.offset, "expected a name of an initializer, found none");
      onnx_imported value = onnx_import::constant(tensors_.read(t));
      value.stored = t.type;
      if (value.rank() > 0) to_.name_constant(value, t.name);
      if (!to.here.emplace(t.name, value).second)
        fail(t.offset, "expected one initializer '" + t.name + "', found a second one");
    }
  }
  // An input with an initializer, as in files of IR version 3, has that value.
  void read_input(const onnx_value_message& input, values& to) {
    const auto fixed = fixed_.find(input.name);
    if (fixed != fixed_.end()) {
      to.here[input.name] = onnx_import::constant(fixed->second);
      return;
    }
    if (to.here.count(input.name) != 0) return;
    require_name(input.name, input.offset);
    const std::optional<dtype> type = dtype_of_onnx(input.type);
    if (!input.is_tensor || !type)
      fail(input.offset, text("input '")
                             << input.name << "': expected a tensor of numbers, found "
                             << (input.is_tensor ? "data_type " + std::to_string(input.type)
                                                 : std::string("another kind of value")));
    if (!input.has_shape)
      fail(input.offset, "input '" + input.name + "': expected a number of dimensions, found none");
    if (input.dims.size() > 16)
      fail(input.offset, text("input '")
                             << input.name << "': expected at most 16 dimensions, found "
                             << input.dims.size());
    onnx_imported made = to_.feed(input.name, *type, dims_of(input), input.offset);
    made.stored = input.type;
    // Dimensions with one name are equal.
    for (std::size_t d = 0; d < made.dims.size(); ++d)
      if (made.dims[d] < 0 && !input.dim_names[d].empty())
        made.dims[d] = dimensions_.emplace(input.dim_names[d], made.dims[d]).first->second;
    to.here.emplace(input.name, std::move(made));
  }
  // The dimensions of an input, with the extents that the caller chose.
  std::vector<std::int64_t> dims_of(const onnx_value_message& input) const {
    std::vector<std::int64_t> dims = input.dims;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (dims[d] >= 0) continue;
      const auto found = extents_.by_name.find(input.dim_names[d]);
      if (found != extents_.by_name.end())
        dims[d] = found->second;
      else if (d == 0)
        dims[d] = extents_.first;
    }
    return dims;
  }
  // A misspelt name would otherwise leave its dimension unknown without a word.
  void require_dim_names(const onnx_graph_message& graph) const {
    std::set<std::string> names;
    for (const onnx_value_message& input : graph.inputs)
      names.insert(input.dim_names.begin(), input.dim_names.end());
    names.erase("");
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "'" : ", '") + name + "'";
    for (const auto& [name, extent] : extents_.by_name) {
      if (names.count(name) == 0)
        throw error("lamina: " + to_.file() + ": " +
                    (all.empty() ? "expected no extents, because no input has a symbolic dimension"
                                 : "expected a symbolic dimension of the inputs, one of " + all) +
                    ", found '" + name + "'");
      if (extent < 1)
        throw error(text("lamina: ") << to_.file() << ": expected a positive extent of dimension '"
                                     << name << "', found " << extent);
    }
  }

  const onnx_imported* look_up(const values& from, const std::string& name) const {
    for (const values* v = &from; v != nullptr; v = v->outer)
      if (const auto found = v->here.find(name); found != v->here.end()) return &found->second;
    return nullptr;
  }
  const onnx_imported& find(const values& from, const std::string& name, std::uint64_t offset,
                            const std::string& reader) const {
    const onnx_imported* found = look_up(from, name);
    if (found == nullptr || !found->is_given())
      fail(offset, "expected a value '" + name + "' for " + reader +
                       ", found that no input, initializer or node gives it");
    return *found;
  }
  const onnx_imported& tensor_in(const values& from, const std::string& name, std::uint64_t offset,
                                 const std::string& reader) const {
    const onnx_imported& found = find(from, name, offset, reader);
    if (found.sequence != nullptr)
      fail(offset, "expected a tensor '" + name + "' for " + reader + ", found a sequence");
    return found;
  }

  // Adds the names of outer values that the inner graphs of a node read.
  static void add_inner_reads(const onnx_node_message& node, std::set<std::string>& to) {
    for (const onnx_attribute_message& a : node.attributes) {
      if (a.graph == nullptr) continue;
      std::set<std::string> read, own;
      for (const onnx_value_message& in : a.graph->inputs) own.insert(in.name);
      for (const onnx_tensor_message& t : a.graph->initializers) own.insert(t.name);
      for (const onnx_node_message& inner : a.graph->nodes) {
        read.insert(inner.inputs.begin(), inner.inputs.end());
        own.insert(inner.outputs.begin(), inner.outputs.end());
        add_inner_reads(inner, read);
      }
      for (const onnx_value_message& out : a.graph->outputs) read.insert(out.name);
      for (const std::string& name : read)
        if (own.count(name) == 0) to.insert(name);
    }
  }

  // Returns an order in which each node follows the nodes whose results it reads: that of the file,
  // as far as it fits. Throws format_error for a cycle.
  std::vector<std::size_t> ordered(const std::vector<onnx_node_message>& nodes,
                                   const values& given) const {
    std::map<std::string, std::size_t> makers;
    for (std::size_t k = 0; k < nodes.size(); ++k)
      for (const std::string& name : nodes[k].outputs) {
        if (name.empty()) continue;
        if (given.here.count(name) != 0 || !makers.emplace(name, k).second)
          fail(nodes[k].offset, "node '" + nodes[k].label() + "': expected one value '" + name +
                                    "', found a second one");
      }
    std::vector<std::size_t> waits(nodes.size(), 0), order;
    std::vector<std::vector<std::size_t>> readers(nodes.size());
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      std::set<std::string> names(nodes[k].inputs.begin(), nodes[k].inputs.end());
      add_inner_reads(nodes[k], names);
      for (const std::string& name : names) {
        const auto maker = makers.find(name);
        if (maker == makers.end()) continue;
        readers[maker->second].push_back(k);
        ++waits[k];
      }
    }
    std::set<std::size_t> ready;
    for (std::size_t k = 0; k < nodes.size(); ++k)
      if (waits[k] == 0) ready.insert(k);
    while (!ready.empty()) {
      const std::size_t k = *ready.begin();
      ready.erase(ready.begin());
      order.push_back(k);
      for (const std::size_t r : readers[k])
        if (--waits[r] == 0) ready.insert(r);
    }
    if (order.size() == nodes.size()) return order;
    for (std::size_t k = 0; k < nodes.size(); ++k)
      if (waits[k] != 0)
        fail(nodes[k].offset, "node '" + nodes[k].label() +
                                  "': expected nodes without a cycle, found one that reads its own "
                                  "results through others");
    return order;
  }

  void import_nodes(const std::vector<onnx_node_message>& nodes, values& to,
                    const onnx_opsets& opsets) {
    for (const std::size_t k : ordered(nodes, to)) {
      const onnx_node_message& node = nodes[k];
      if (++imported_ > most_nodes)
        fail(node.offset, text("expected at most ")
                              << most_nodes << " nodes, those of functions for each call");
      const std::vector<onnx_imported> results = imported(node, to, opsets);
      for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i].empty()) continue;
        to_.suggest(results[i], node.outputs[i]);
        to.here[node.outputs[i]] = results[i];
      }
    }
  }

  std::vector<onnx_imported> imported(const onnx_node_message& node, const values& from,
                                      const onnx_opsets& opsets) {
    std::vector<onnx_imported> inputs;
    for (const std::string& name : node.inputs)
      inputs.push_back(name.empty() ? onnx_imported()
                                    : find(from, name, node.offset, "node '" + node.label() + "'"));
    if (const onnx_function_message* f = function_of(node)) return called(*f, node, inputs);
    onnx_import_node made(
        to_, node, version_of(opsets, node.domain), std::move(inputs),
        [this](const onnx_tensor_message& t) { return tensors_.read(t); },
        [&](const onnx_graph_message& graph, const std::vector<onnx_imported>& given) {
          return imported_graph(graph, given, node, from, opsets);
        });
    if (is_constant(node)) {
      made.out(constant_of(made));
    } else {
      const onnx_raising* raise = operators_.find_node(node.domain, node.type);
      if (raise == nullptr) refuse_unknown({node});
      import_one(*raise, made);
      complete_list(made);
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (made.wants(i) && !made.results()[i].is_given())
        made.fail(text("expected that nothing reads output ")
                  << i << ", '" << node.outputs[i] << "', which lamina does not give");
    return made.results();
  }

  // Lists that are too short and sizes that no memory holds are errors of the file, too.
  static void import_one(const onnx_raising& raise, onnx_import_node& node) {
    try {
      raise(node);
    } catch (const error&) {
      throw;
    } catch (const std::logic_error& e) {
      node.fail(std::string("expected inputs and attributes that fit the operator, found: ") +
                e.what());
    } catch (const std::bad_alloc&) {
      node.fail("expected values that fit into memory, found larger ones");
    }
  }

  onnx_imported constant_of(const onnx_import_node& node) const {
    if (const auto value = node.tensor_attribute("value")) {
      onnx_imported made = onnx_import::constant(*value);
      made.stored = node.message().attribute("value")->tensor->type;
      return made;
    }
    if (node.has_attribute("value_int"))
      return onnx_import::constant(tensor::filled<std::int64_t>({}, node.integer("value_int")));
    if (node.has_attribute("value_float"))
      return onnx_import::constant(tensor::filled<float>({}, node.real("value_float")));
    if (node.has_attribute("value_ints")) return node.constant_list(node.integers("value_ints"));
    if (node.has_attribute("value_floats")) {
      const std::vector<float> all = node.reals("value_floats");
      return onnx_import::constant(tensor({all.size()}, all));
    }
    node.fail("expected a constant of numbers, found another kind");
  }

  // The nodes of an inner graph become operators of the current block. They also read the values of
  // the graphs around theirs.
  std::vector<onnx_imported> imported_graph(const onnx_graph_message& graph,
                                            const std::vector<onnx_imported>& given,
                                            const onnx_node_message& node, const values& from,
                                            const onnx_opsets& opsets) {
    if (++graphs_ > deepest_graph)
      fail(node.offset, text("node '") << node.label() << "': expected at most " << deepest_graph
                                       << " graphs inside of each other");
    refuse_unknown(graph.nodes);
    values inner{{}, &from};
    for (std::size_t i = 0; i < given.size(); ++i)
      if (graph.inputs[i].name.empty() ||
          !inner.here.emplace(graph.inputs[i].name, given[i]).second)
        fail(graph.inputs[i].offset, "expected inputs with different names of a graph, found '" +
                                         graph.inputs[i].name + "'");
    read_initializers(graph, inner);
    import_nodes(graph.nodes, inner, opsets);
    std::vector<onnx_imported> results;
    for (const onnx_value_message& out : graph.outputs)
      results.push_back(tensor_in(inner, out.name, node.offset,
                                  "the outputs of a graph of node '" + node.label() + "'"));
    --graphs_;
    return results;
  }

  // The nodes of a function become a part of the graph that calls it.
  std::vector<onnx_imported> called(const onnx_function_message& function,
                                    const onnx_node_message& call,
                                    const std::vector<onnx_imported>& inputs) {
    if (++calls_ > deepest_call)
      fail(call.offset, "node '" + call.label() +
                            "': expected functions that do not call "
                            "themselves, found '" +
                            function.name + "' inside of itself");
    values inner{{}, nullptr};
    if (inputs.size() > function.inputs.size() || call.outputs.size() > function.outputs.size())
      fail(call.offset, text("node '")
                            << call.label() << "': expected at most " << function.inputs.size()
                            << " inputs and " << function.outputs.size() << " outputs of function '"
                            << function.name << "', found " << inputs.size() << " and "
                            << call.outputs.size());
    for (std::size_t i = 0; i < function.inputs.size(); ++i)
      inner.here[function.inputs[i]] = i < inputs.size() ? inputs[i] : onnx_imported();
    std::vector<onnx_node_message> nodes = function.nodes;
    for (onnx_node_message& node : nodes) resolve(node, call, function);
    import_function_nodes(nodes, inner, function.opsets.empty() ? model_.opsets : function.opsets);
    std::vector<onnx_imported> results;
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
      if (call.outputs[i].empty())
        results.emplace_back();
      else
        results.push_back(find(inner, function.outputs[i], call.offset,
                               "the outputs of function '" + function.name + "'"));
    }
    --calls_;
    return results;
  }
  // Inputs that the call omits are values without contents: a node that reads one omits it too.
  void import_function_nodes(std::vector<onnx_node_message>& nodes, values& to,
                             const onnx_opsets& opsets) {
    for (onnx_node_message& node : nodes)
      for (std::string& name : node.inputs)
        if (const auto found = to.here.find(name);
            found != to.here.end() && !found->second.is_given())
          name.clear();
    import_nodes(nodes, to, opsets);
  }
  // Replaces each attribute that refers to an attribute of the function by the value in the call
  // or, without one, by the function's default; without either, the node gets no such attribute.
  static void resolve(onnx_node_message& node, const onnx_node_message& call,
                      const onnx_function_message& function) {
    std::vector<onnx_attribute_message> made;
    for (const onnx_attribute_message& a : node.attributes) {
      if (a.reference.empty()) {
        made.push_back(a);
        if (a.graph != nullptr) {
          auto graph = std::make_shared<onnx_graph_message>(*a.graph);
          for (onnx_node_message& inner : graph->nodes) resolve(inner, call, function);
          made.back().graph = std::move(graph);
        }
        continue;
      }
      const onnx_attribute_message* value = call.attribute(a.reference);
      for (const onnx_attribute_message& d : function.defaults)
        if (value == nullptr && d.name == a.reference) value = &d;
      if (value == nullptr) continue;
      made.push_back(*value);
      made.back().name = a.name;
    }
    node.attributes = std::move(made);
  }

  const onnx_model_message& model_;
  const onnx_operators& operators_;
  onnx_import& to_;
  const fixed_values& fixed_;
  onnx_extents extents_;
  detail::onnx_tensor_reader tensors_;
  std::map<std::string, const onnx_function_message*> functions_;
  std::map<std::string, std::int64_t> dimensions_;  // the symbols of named dimensions
  std::uint64_t imported_ = 0;
  int calls_ = 0, graphs_ = 0;
};

}}  // namespace lamina
