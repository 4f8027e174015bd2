// SPDX-License-Identifier: Apache-2.0
// lamina/io/onnx/onnx_builder.hpp - builds an ONNX graph: nodes, constants, and the inner graphs of
// branches and loops.
#pragma once

#include <lamina/core/config.hpp>

#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/io/onnx/onnx_message.hpp>
#include <lamina/tensor/tensor.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Builds a graph. The names of values are unique in a model, inner graphs included; constants and
/// parameters belong to the outermost graph, which is visible in all others.
class onnx_builder {
 public:
  onnx_builder() { graphs_.emplace_back(); }
  onnx_builder(const onnx_builder&) = delete;
  onnx_builder& operator=(const onnx_builder&) = delete;

  /// Reserves a name that unique() must not return.
  void reserve(const std::string& name) { reserved_.insert(name); }
  /// Reserves a name; returns false if it is already in use.
  bool take(const std::string& name) { return taken_.insert(name).second; }
  /// Returns a unique name that resembles `wish`; the string lives as long as this object.
  const std::string& unique(const std::string& wish) {
    for (int i = 0;; ++i) {
      std::string name = i == 0 ? wish : wish + "_" + std::to_string(i);
      if (reserved_.count(name) == 0 && take(name)) return *taken_.find(name);
    }
  }
  /// Returns a copy of the text that lives as long as this object.
  const std::string& kept(const std::string& name) { return *kept_.insert(name).first; }

  /// Appends a node to the innermost graph that is open.
  void node(std::string_view type, onnx_names inputs, onnx_names outputs,
            const onnx_attributes& attributes = {}, std::string_view domain = "") {
    graph& to = graphs_.back();
    to.made.nodes.push_back(onnx_node(type, inputs, outputs, attributes, domain));
    for (std::size_t i = 0; i < outputs.size(); ++i) to.produced.emplace(outputs[i]);
    if (!domain.empty()) domains_.emplace(domain);
  }

  /// Adds a constant; equal constants share one value.
  const std::string& constant(tensor value) {
    std::string key = std::to_string(static_cast<int>(value.type())) + to_string(value.shape());
    key.append(static_cast<const char*>(value.data()),
               value.size() * static_cast<std::size_t>(size_of(value.type())));
    const auto [found, is_new] = constants_.emplace(std::move(key), "");
    if (is_new) {
      found->second = unique("constant");
      owned_.push_back(std::move(value));
      parameter(found->second, owned_.back());
    }
    return found->second;
  }
  /// Adds a parameter; its elements must live until the model is written.
  void parameter(const std::string& name, const tensor& value) {
    graphs_.front().made.initializers.emplace_back(name, &value);
  }

  /// Adds an input of the model.
  void input(onnx_value value) { graphs_.front().made.inputs.push_back(std::move(value)); }

  /// Begins a graph inside the open one.
  void open() { graphs_.emplace_back(); }
  /// Ends the innermost graph. Every output must be a separate value of this graph, so a value from
  /// an outer graph, or one that is already an output, is copied.
  onnx_graph close(const std::string& name, std::vector<onnx_value> inputs,
                   std::vector<onnx_value> outputs) {
    std::set<std::string> seen;
    for (onnx_value& v : outputs) {
      if (graphs_.back().produced.count(v.name) == 0 || !seen.insert(v.name).second) {
        const std::string copy = unique(v.name + "/Identity");
        node("Identity", {v.name}, {copy});
        v.name = copy;
      }
    }
    onnx_graph made = std::move(graphs_.back().made);
    if (graphs_.size() > 1)
      graphs_.pop_back();
    else
      graphs_.back() = {};
    made.name = name;
    for (onnx_value& v : inputs) made.inputs.push_back(std::move(v));
    made.outputs = std::move(outputs);
    return made;
  }

  /// Returns the number of graphs that enclose the open one.
  int depth() const { return static_cast<int>(graphs_.size()) - 1; }
  /// Returns the domains of custom operators.
  const std::set<std::string>& domains() const { return domains_; }

 private:
  struct graph {
    onnx_graph made{};
    std::set<std::string> produced{};
  };

  std::vector<graph> graphs_;  // the open graphs, the outermost first
  std::set<std::string> taken_, reserved_, domains_, kept_;
  std::map<std::string, std::string> constants_;  // names of constants by type, shape and bytes
  std::deque<tensor> owned_;
};

}}  // namespace lamina
