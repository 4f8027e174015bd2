// SPDX-License-Identifier: Apache-2.0
// lamina/io/onnx/onnx_program.hpp - the state of the conversion of a program to an ONNX graph.
//
// A variable of Fluid may be written more than once, but a value of ONNX only once. So each write
// makes a new value, and each read uses the current value of the variable.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/io/fluid/program_message.hpp>
#include <lamina/io/onnx/onnx_builder.hpp>
#include <lamina/tensor/scope.hpp>

namespace lamina { inline namespace LAMINA_ABI {

class onnx_operators;

/// A program during its conversion.
class onnx_program {
 public:
  /// The values of the variables at one position of the program.
  struct state {
    /// The values of a tensor array by slot (empty for slots without a value), and the graph to
    /// which the array belongs.
    struct array {
      int depth;
      std::vector<std::string> values;
    };
    std::map<std::string, std::string> values{};
    std::map<std::string, array> arrays{};
  };

  onnx_program(const program_message& program, const scope& parameters,
               const onnx_operators& operators, const std::vector<std::string>& targets)
      : program_(program), parameters_(parameters), operators_(operators) {
    for (const block_message& b : program.blocks) {
      for (const variable_message& v : b.variables) {
        graph.reserve(v.name);
        variables_.emplace(v.name, &v);
      }
      for (const operator_message& op : b.operators) {
        for (const slot_message& s : op.inputs)
          read_.insert(s.arguments.begin(), s.arguments.end());
        for (const slot_message& s : op.outputs)
          for (const std::string& name : s.arguments) ++writes_[name];
      }
    }
    read_.insert(targets.begin(), targets.end());
    for (const std::string& name : targets)
      if (writes_[name] > 1) graph.take(name);  // the last value gets this name at the end
  }

  onnx_builder graph;
  state now;

  const program_message& message() const { return program_; }
  const onnx_operators& operators() const { return operators_; }

  /// Returns the description of a variable. Throws lamina::error if no block declares it.
  const variable_message& variable(const std::string& name) const {
    const auto found = variables_.find(name);
    if (found == variables_.end())
      throw error("lamina: export_onnx: expected a variable that a block declares, found '" + name +
                  "'");
    return *found->second;
  }
  /// Returns the description of a variable, or null if no block declares it.
  const variable_message* find_variable(const std::string& name) const {
    const auto found = variables_.find(name);
    return found == variables_.end() ? nullptr : found->second;
  }
  /// Whether an operator reads a variable or the variable is a target.
  bool is_read(const std::string& name) const { return read_.count(name) != 0; }

  /// Returns the current value of a variable; empty if it has none.
  std::string value(const std::string& name) {
    if (const auto found = now.values.find(name); found != now.values.end()) return found->second;
    const auto v = variables_.find(name);
    if (v == variables_.end() || !v->second->persistable) return {};
    const lod_tensor& elements = parameters_.get(name);
    if (graph.take(name)) graph.parameter(name, elements);
    return name;
  }
  /// Returns the elements of a parameter; null for other variables and for parameters that the
  /// program writes.
  const tensor* parameter(const std::string& name) const {
    const auto v = variables_.find(name);
    if (v == variables_.end() || !v->second->persistable || now.values.count(name) != 0)
      return nullptr;
    return parameters_.find(name);
  }
  /// Returns a name for the next value of a variable and makes it the current value.
  std::string write(const std::string& name) {
    const std::string made = graph.take(name) ? name : graph.unique(name + "/next");
    now.values[name] = made;
    return made;
  }
  /// Makes an existing value the current value of a variable.
  void set(const std::string& name, const std::string& value) { now.values[name] = value; }

  /// Adds a feed as an input. The lengths of a sequence become a second input when an operator
  /// first uses them.
  void feed(const std::string& name) {
    const variable_message& v = variable(name);
    graph.take(name);
    graph.input(described(v, name));
    now.values[name] = name;
    if (v.lod_level == 1) {
      lengths_[name] = name + "@LENGTHS";
      lengths_of_feeds_.insert(lengths_[name]);
    }
  }
  /// Describes a value with the type and the dimensions of a variable.
  static onnx_value described(const variable_message& v, const std::string& name) {
    onnx_value made{name, v.type, true, {}};
    for (const std::int64_t extent : v.dims) {
      if (extent >= 0)
        made.dims.push_back({extent, ""});
      else
        made.dims.push_back({0, v.lod_level == 0 ? "batch" : "rows_of_" + v.name});
    }
    return made;
  }

  /// Returns the value with the lengths of the sequences of a variable's rows, int64 [sequences];
  /// empty for rows without sequences and for nested sequences.
  std::string lengths(const std::string& name) {
    const auto found = lengths_.find(name);
    if (found == lengths_.end()) return {};
    if (lengths_of_feeds_.erase(found->second) != 0) {
      graph.take(found->second);
      graph.input({found->second, dtype::int64, true, {{0, "batch"}}});
    }
    return found->second;
  }
  /// Sets the lengths of the sequences of a variable's rows.
  void set_lengths(const std::string& name, const std::string& value) { lengths_[name] = value; }
  /// Sets the lengths of the sequences of an operator's outputs to those of its first input with
  /// the same number of levels, unless the operator has set them.
  void pass_lengths(const operator_message& op) {
    std::string from;
    for (const slot_message& s : op.inputs)
      for (const std::string& name : s.arguments)
        if (from.empty() && lengths_.count(name) != 0) from = lengths_[name];
    if (from.empty()) return;
    for (const slot_message& s : op.outputs)
      for (const std::string& name : s.arguments)
        if (const auto v = variables_.find(name);
            v != variables_.end() && v->second->lod_level == 1)
          lengths_.emplace(name, from);
  }

  /// Integers and booleans of one element that are known before the model runs, by name of the
  /// value.
  std::map<std::string, std::int64_t> known;

 private:
  const program_message& program_;
  const scope& parameters_;
  const onnx_operators& operators_;
  std::map<std::string, const variable_message*> variables_;
  std::set<std::string> read_;
  std::map<std::string, int> writes_;
  std::map<std::string, std::string> lengths_;  // by variable: the value with its lengths
  std::set<std::string> lengths_of_feeds_;      // lengths that are not inputs yet
};

}}  // namespace lamina
