// SPDX-License-Identifier: Apache-2.0
// lamina/io/onnx/onnx_operator.hpp - one operator of a program during its conversion to ONNX nodes,
// and the table of conversions in both directions.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/core/numbers/number_cast.hpp>
#include <lamina/io/onnx/onnx_import_node.hpp>
#include <lamina/io/onnx/onnx_program.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// An operator of a program: its inputs as values of the graph, its attributes, and functions that
/// add the nodes which compute its outputs.
class onnx_operator {
 public:
  onnx_operator(onnx_program& program, const operator_message& message)
      : program_(program), message_(message) {}

  const std::string& type() const { return message_.type; }
  const operator_message& message() const { return message_; }
  onnx_program& program() { return program_; }

  /// Throws lamina::error that names the operator, its layer and the reason.
  [[noreturn]] void fail(const std::string& reason) const {
    std::string result;
    for (const slot_message& s : message_.outputs)
      if (result.empty() && !s.arguments.empty()) result = s.arguments[0];
    throw error("lamina: export_onnx: operator '" + type() + "' of layer '" +
                result.substr(0, result.find('.')) + "', which computes '" + result +
                "': " + reason);
  }

  /// Whether an input slot holds a variable.
  bool has(std::string_view slot) const { return !message_.input(slot).empty(); }
  /// Whether the graph reads the variable of an output slot.
  bool wants(std::string_view slot) const {
    const std::vector<std::string>& names = message_.output(slot);
    return !names.empty() && program_.is_read(names[0]);
  }
  /// Returns the name of the variable in a slot, input or output.
  const std::string& name(std::string_view slot) const {
    const std::vector<std::string>& read = message_.input(slot);
    const std::vector<std::string>& names = read.empty() ? message_.output(slot) : read;
    if (names.empty()) fail("expected a variable in slot '" + std::string(slot) + "', found none");
    return names[0];
  }
  /// Returns the value in an input slot.
  const std::string& in(std::string_view slot) { return value_of(name(slot)); }
  /// Returns all values of a slot that takes any number.
  std::vector<std::string> all(std::string_view slot) {
    std::vector<std::string> values;
    for (const std::string& name : message_.input(slot)) values.push_back(value_of(name));
    return values;
  }
  const std::string& value_of(const std::string& variable) {
    const std::string& found = program_.graph.kept(program_.value(variable));
    if (found.empty()) fail("expected a value of '" + variable + "', found that nothing sets it");
    return found;
  }

  /// Returns the dimensions of the variable in a slot; -1: known at run time.
  const std::vector<std::int64_t>& dims(std::string_view slot) const {
    return program_.variable(name(slot)).dims;
  }
  int rank(std::string_view slot) const { return static_cast<int>(dims(slot).size()); }
  /// Returns a dimension; a negative axis counts from the end. Throws lamina::error if it is known
  /// only at run time.
  std::int64_t extent(std::string_view slot, int axis) const {
    const std::vector<std::int64_t>& all = dims(slot);
    const int at = axis < 0 ? axis + static_cast<int>(all.size()) : axis;
    if (at < 0 || at >= static_cast<int>(all.size()) || all[static_cast<std::size_t>(at)] < 0)
      fail("expected dimension " + std::to_string(axis) + " of '" + name(slot) +
           "' to be known, found " + std::string(text().list(all)));
    return all[static_cast<std::size_t>(at)];
  }
  dtype type_of(std::string_view slot) const { return program_.variable(name(slot)).type; }

  /// Return attributes; `otherwise` is Fluid's default for files without the attribute.
  std::int64_t integer(std::string_view name, std::int64_t otherwise = 0) const {
    const attribute_message* a = message_.attribute(name);
    return a == nullptr ? otherwise : a->integer;
  }
  bool flag(std::string_view name, bool otherwise = false) const {
    return integer(name, otherwise ? 1 : 0) != 0;
  }
  double real(std::string_view name, double otherwise = 0) const {
    const attribute_message* a = message_.attribute(name);
    return a == nullptr ? otherwise : a->number();
  }
  /// Returns the type in which the operator computes real numbers.
  dtype real_type() const {
    for (const auto* slot_list : {&message_.outputs, &message_.inputs})
      for (const slot_message& s : *slot_list)
        for (const std::string& name : s.arguments)
          if (const variable_message* v = program_.find_variable(name))
            if (v->has_tensor() && is_floating(v->type)) return v->type;
    return dtype::float32;
  }
  std::string string(std::string_view name, const char* otherwise = "") const {
    const attribute_message* a = message_.attribute(name);
    return a == nullptr ? std::string(otherwise) : a->text;
  }
  std::vector<std::int64_t> integers(std::string_view name) const {
    const attribute_message* a = message_.attribute(name);
    return a == nullptr ? std::vector<std::int64_t>() : a->integers;
  }

  /// Adds a node; returns the name of its first output, a new value. The graph owns the name.
  const std::string& node(const char* type, onnx_names inputs,
                          const onnx_attributes& attributes = {}) {
    const std::string& made = program_.graph.unique(base_name() + "/" + type);
    program_.graph.node(type, inputs, {made}, attributes);
    return made;
  }
  /// Adds a node with several outputs.
  std::vector<std::string> nodes(const char* type, onnx_names inputs, int outputs,
                                 const onnx_attributes& attributes = {}) {
    std::vector<std::string> made;
    for (int i = 0; i < outputs; ++i)
      made.push_back(program_.graph.unique(base_name() + "/" + type));
    program_.graph.node(type, inputs, made, attributes);
    return made;
  }
  /// Adds a node whose first output becomes the value of the variable in an output slot.
  void out(std::string_view slot, const char* type, onnx_names inputs,
           const onnx_attributes& attributes = {}) {
    assign(name_of_output(slot), type, inputs, attributes);
  }
  /// Makes an existing value the value of the variable in an output slot.
  void out(std::string_view slot, const std::string& value) {
    program_.set(name_of_output(slot), value);
  }
  void assign(const std::string& variable, const char* type, onnx_names inputs,
              const onnx_attributes& attributes = {}) {
    program_.graph.node(type, inputs, {program_.write(variable)}, attributes);
  }
  const std::string& name_of_output(std::string_view slot) const {
    const std::vector<std::string>& names = message_.output(slot);
    if (names.empty()) fail("expected a variable in slot '" + std::string(slot) + "', found none");
    return names[0];
  }

  /// Add constants: a list of integers, or one number without dimensions, with a given type or the
  /// type in which the operator computes.
  const std::string& list(const std::vector<std::int64_t>& values) {
    return program_.graph.constant(tensor({values.size()}, values));
  }
  const std::string& whole(std::int64_t value) {
    return program_.graph.constant(tensor::filled<std::int64_t>({}, value));
  }
  const std::string& number(double value) { return number(value, real_type()); }
  const std::string& number(double value, dtype type) {
    if (type == dtype::int64) return whole(number_cast<std::int64_t>(value));
    return program_.graph.constant(tensor::filled<double>({}, value).cast(type));
  }

  /// Add single nodes of frequent types.
  const std::string& cast(const std::string& x, dtype type) {
    return node("Cast", {x}, {{"to", onnx_type_of(type)}});
  }
  const std::string& reshape(const std::string& x, const std::vector<std::int64_t>& shape) {
    return node("Reshape", {x, list(shape)});
  }

 private:
  std::string base_name() const {
    for (const slot_message& s : message_.outputs)
      if (!s.arguments.empty()) return s.arguments[0];
    return type();
  }

  onnx_program& program_;
  const operator_message& message_;
};

/// Adds the nodes of one operator to a graph.
using onnx_lowering = std::function<void(onnx_operator&)>;

/// The conversions of operators to ONNX nodes, by Fluid's type name, and of nodes to operators, by
/// ONNX's. To export custom operators, or to replace a conversion, add() them to a copy of
/// known_onnx_operators().
class onnx_operators {
 public:
  void add(const std::string& type, onnx_lowering lowering) { table_[type] = std::move(lowering); }
  /// Adds the import of nodes of a type; `domain` is "" for ONNX's own.
  void add_node(std::string_view type, onnx_raising raising, const std::string& domain = "") {
    nodes_[domain + ":" + std::string(type)] = std::move(raising);
  }
  /// Returns the import of a type of nodes, or null.
  const onnx_raising* find_node(const std::string& domain, const std::string& type) const {
    const auto found = nodes_.find(domain + ":" + type);
    return found == nodes_.end() ? nullptr : &found->second;
  }
  /// Returns the conversion of a type, or null.
  const onnx_lowering* find(std::string_view type) const {
    const auto found = table_.find(type);
    return found == table_.end() ? nullptr : &found->second;
  }
  /// All types, in alphabetic order.
  std::vector<std::string> types() const {
    std::vector<std::string> all;
    for (const auto& [type, lowering] : table_) all.push_back(type);
    return all;
  }

 private:
  std::map<std::string, onnx_lowering, std::less<>> table_;
  std::map<std::string, onnx_raising> nodes_;
};

/// Adds the nodes of all operators of a block to the graph that is open.
inline void add_onnx_block(onnx_program& program, int block) {
  for (const operator_message& op :
       program.message().blocks[static_cast<std::size_t>(block)].operators) {
    if (op.type == "feed" || op.type == "fetch") continue;
    onnx_operator at(program, op);
    const onnx_lowering* how = program.operators().find(op.type);
    if (how == nullptr) at.fail("ONNX has no such operator, and lamina no other nodes for it");
    (*how)(at);
    program.pass_lengths(op);
  }
}

}}  // namespace lamina
