// SPDX-License-Identifier: Apache-2.0
// lamina/io/fluid/to_program_message.hpp - converts a recorded program to a ProgramDesc as files
// store it.
//
// A recorded program has the structure of a ProgramDesc. The conversion adds what a recorded
// program does not store explicitly: names as text, the dimension -1 and lod_level in place of row
// domains, default values of attributes, and the marks of fed variables.
#pragma once

#include <lamina/core/config.hpp>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/io/fluid/fluid_gradients.hpp>
#include <lamina/io/fluid/program_message.hpp>
#include <lamina/program/program.hpp>
#include <lamina/program/variable_name.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// Converts a recorded program to messages.
class message_maker {
 public:
  explicit message_maker(const program_view& program) : p_(program) { name_variables(); }

  /// Returns the blocks with their variables and operators. Fed variables have need_check_feed.
  program_message main_program() const {
    program_message m;
    const std::set<int> tables = rank_tables();
    for (int i = 0; i < p_.count.blocks; ++i) {
      block_message& b = m.blocks.emplace_back();
      b.index = i;
      b.parent = p_.blocks[i].parent;
      b.forward_block = i == 0 ? -1 : p_.blocks[i].forward_block;
      for (int v = 0; v < p_.count.variables; ++v) {
        if (p_.variables[v].block != i || !declared_[at(v)]) continue;
        b.variables.push_back(variable(v));
        if (tables.count(v) != 0) b.variables.back().kind = variable_class::lod_rank_table;
        if (!b.variables.back().has_tensor()) forget_tensor(b.variables.back());
      }
    }
    if (m.blocks.empty()) m.blocks.emplace_back();
    for (int k = 0; k < p_.count.operators; ++k) {
      const operator_desc& op = p_.operators[k];
      if (op.schema->kind != operator_kind::source)
        m.blocks[static_cast<std::size_t>(op.block)].operators.push_back(message(op));
    }
    for (block_message& b : m.blocks) name_unread_outputs(b);
    fluid_gradient_writer(m).rewrite();
    return m;
  }

  /// Returns the program whose operators initialise the parameters.
  program_message startup_program() const {
    program_message m;
    block_message& b = m.blocks.emplace_back();
    for (int i = 0; i < p_.count.parameters; ++i)
      if (declared_[at(p_.parameters[i].variable)])
        b.variables.push_back(variable(p_.parameters[i].variable));
    for (int k = 0; k < p_.count.startup; ++k) b.operators.push_back(message(p_.startup[k]));
    return m;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  // Finds the names of variables in the file. In block 0, variables with equal names are one
  // variable. In Fluid, a variable of an inner block hides a variable with the same name in the
  // blocks around it, so variables of inner blocks get unique names.
  void name_variables() {
    names_.resize(at(p_.count.variables));
    declared_.resize(at(p_.count.variables), true);
    std::set<std::string> taken;
    for (const bool global : {true, false})
      for (int v = 0; v < p_.count.variables; ++v) {
        if ((p_.variables[v].block == 0) != global) continue;
        std::string name = variable_name(p_, v);
        if (!taken.insert(name).second) {
          if (global) {
            declared_[at(v)] = false;
          } else {
            name += "@BLOCK" + std::to_string(p_.variables[v].block);
            while (!taken.insert(name).second) name += "@";
          }
        }
        names_[at(v)] = std::move(name);
      }
  }

  // Returns the variables that have the type of rank tables in Fluid.
  std::set<int> rank_tables() const {
    std::set<int> tables;
    for (int k = 0; k < p_.count.operators; ++k)
      if (std::string_view(p_.operators[k].schema->type) == "lod_rank_table")
        tables.insert(output_of(p_, p_.operators[k], 0));
    return tables;
  }

  variable_message variable(int v) const {
    const variable_desc& d = p_.variables[v];
    variable_message m;
    m.name = names_[at(v)];
    m.kind = d.kind == variable_kind::tensor_array    ? variable_class::lod_tensor_array
             : d.kind == variable_kind::step_scopes   ? variable_class::step_scopes
             : d.kind == variable_kind::selected_rows ? variable_class::selected_rows
                                                      : variable_class::lod_tensor;
    m.type = d.type;
    m.dims.assign(p_.dims + d.dims, p_.dims + d.dims + d.rank);
    if (d.rank > 0 && m.dims[0] < 0) m.lod_level = lod_level_of(p_, d.rows);
    m.persistable = d.persistable || d.kind == variable_kind::parameter;
    m.need_check_feed = d.kind == variable_kind::data;
    m.is_parameter = d.kind == variable_kind::parameter;
    m.stop_gradient = d.stop_gradient;
    return m;
  }

  static void forget_tensor(variable_message& m) {
    m.type = dtype::float32;
    m.dims.clear();
    m.lod_level = 0;
  }

  std::vector<slot_message> slot_list(const operator_desc& op, bool input) const {
    const slot_desc* slot = input ? op.schema->inputs : op.schema->outputs;
    const int count = input ? op.schema->input_count : op.schema->output_count;
    std::vector<slot_message> made;
    for (int s = 0, i = input ? op.inputs : op.outputs; s < count; ++s) {
      slot_message& m = made.emplace_back();
      m.slot = slot[s].name;
      const int n = slot[s].duplicable ? p_.arguments[i++] : 1;
      for (int k = 0; k < n; ++k, ++i) {
        if (const int v = p_.arguments[i]; v >= 0)
          m.arguments.push_back(names_[at(v)]);
        else if (slot[s].duplicable)
          m.arguments.push_back("@EMPTY@");
      }
    }
    return made;
  }

  attribute_message attribute(const operator_desc& op, int i) const {
    const attribute_desc& d = op.schema->attributes[i];
    attribute_message m;
    m.name = d.name;
    m.type = d.type;
    if (op.attributes < 0) {
      m.integer = static_cast<std::int64_t>(d.type == attribute_type::real ? 0 : d.number);
      set_real(m, d.number);
      m.text = d.text;
      return settled(m);
    }
    const attribute_value& v = p_.attributes[op.attributes + i];
    switch (d.type) {
      case attribute_type::real:
        set_real(m, v.number);
        break;
      case attribute_type::string:
        m.text.assign(p_.characters + v.offset, at(v.count));
        break;
      case attribute_type::reals:
        m.reals.assign(p_.reals + v.offset, p_.reals + v.offset + v.count);
        break;
      case attribute_type::integers:
      case attribute_type::booleans:
      case attribute_type::blocks:
      case attribute_type::long_integers:
        m.integers.assign(p_.integers + v.offset, p_.integers + v.offset + v.count);
        break;
      default:
        m.integer = static_cast<std::int64_t>(v.number);
    }
    return settled(m);
  }
  static void set_real(attribute_message& m, double value) {
    m.real = static_cast<float>(value);
    m.recorded = {value, true, false};
  }
  // Clears the members real and text unless the type says that one of them holds the value.
  static attribute_message settled(attribute_message m) {
    if (m.type != attribute_type::real) m.real = 0;
    if (m.type != attribute_type::string) m.text.clear();
    return m;
  }

  operator_message message(const operator_desc& op) const {
    operator_message m;
    m.type = op.schema->type;
    m.inputs = slot_list(op, true);
    m.outputs = slot_list(op, false);
    for (int i = 0; i < op.schema->attribute_count; ++i) m.attributes.push_back(attribute(op, i));
    keep_digits(op, m);
    spell_mask(m);
    attribute_message& role = m.attributes.emplace_back();
    role.name = "op_role";
    role.integer =
        static_cast<int>(op.role == op_role::gradient_value ? op_role::backward : op.role);
    return m;
  }

  // Converts elementwise_keep, which Fluid does not have, to elementwise_mul, which gives the same
  // result for finite numbers. An attribute that Fluid ignores marks the operator for lamina. The
  // gradient of elementwise_mul also has the input X; here only the shape of X matters, so the
  // gradient of the output, which has the same shape, is passed.
  static void spell_mask(operator_message& m) {
    if (!m.type.starts_with("elementwise_keep")) return;
    m.type = "elementwise_mul" + m.type.substr(std::string_view("elementwise_keep").size());
    if (m.type == "elementwise_mul_grad")
      m.inputs.insert(m.inputs.begin(), {"X", m.input("Out@GRAD")});
    attribute_message& keeps = m.attributes.emplace_back();
    keeps.name = keeps_attribute;
    keeps.type = attribute_type::boolean;
    keeps.integer = 1;
  }

  // Files store real attributes as floats. If a float cannot represent the constant of an operator
  // with an integer or double output, the message also gets the exact number as text.
  void keep_digits(const operator_desc& op, operator_message& m) const {
    bool whole = true, wide = false;
    for (int s = 0; s < op.schema->output_count && !op.schema->outputs[s].duplicable; ++s) {
      const int v = p_.arguments[op.outputs + s];
      whole = whole && v >= 0 && !is_floating(p_.variables[v].type);
      wide = wide || (v >= 0 && p_.variables[v].type == dtype::float64);
    }
    std::string all_digits;
    for (attribute_message& a : m.attributes) {
      if (a.type != attribute_type::real || a.recorded.value == double(a.real)) continue;
      const bool constant = m.type.starts_with("fill_constant") && a.name == "value";
      a.recorded.needed = whole && !constant && !std::isnan(a.recorded.value);
      if (constant && (whole || wide)) all_digits = digits_of(a.recorded.value, whole);
    }
    if (all_digits.empty()) return;
    attribute_message& text = m.attributes.emplace_back();
    text.name = "str_value";
    text.type = attribute_type::string;
    text.text = all_digits;
  }
  static std::string digits_of(double value, bool whole) {
    char digits[32];
    const bool is_long = whole && value >= -0x1p63 && value < 0x1p63;
    char* const end =
        is_long
            ? std::to_chars(digits, digits + sizeof digits, static_cast<std::int64_t>(value)).ptr
            : std::to_chars(digits, digits + sizeof digits, value).ptr;
    return std::string(digits, end);
  }

  // Names outputs that nothing reads, because PaddlePaddle writes them and terminates if they have
  // no name. These outputs are the unused side of a split, the numbers of rows that the slots
  // contributed to a concatenated array, and the output ReserveSpace of a batch_norm in training
  // (memory for GPUs), which Fluid 1 and lamina do not have.
  static void name_unread_outputs(block_message& b) {
    for (operator_message& op : b.operators) {
      const auto holds = [&op](std::string_view name) {
        const attribute_message* a = op.attribute(name);
        return a != nullptr && a->integer != 0;
      };
      if (op.type == "batch_norm" && !holds("is_test") && !holds("use_global_stats"))
        op.outputs.push_back(
            {"ReserveSpace", {unread(b, op.output("Y").at(0) + "@RESERVE_SPACE")}});
      if (op.type == "tensor_array_to_tensor")
        op.outputs.push_back({"OutIndex", {unread(b, op.output("Out").at(0) + "@INDEX")}});
      if (op.type != "split_lod_tensor") continue;
      for (slot_message& s : op.outputs)
        if (s.arguments.empty())
          s.arguments.push_back(unread(b, op.input("X").at(0) + "@" + s.slot + "@UNREAD"));
    }
  }
  static std::string unread(block_message& b, std::string name) {
    while (b.find(name) != nullptr) name += "@";
    variable_message& v = b.variables.emplace_back();
    v.name = name;
    v.dims = {-1};
    v.stop_gradient = true;
    return name;
  }

  const program_view& p_;
  std::vector<std::string> names_;  // for each variable, its name
  std::vector<bool> declared_;      // for each variable, whether it is the first with its name
};

}  // namespace detail

/// Converts the main program to a message, in which every operator has its name in Fluid and all
/// its attributes.
inline program_message to_program_message(const program_view& program) {
  return detail::message_maker(program).main_program();
}
template <program_type P>
program_message to_program_message(P) {
  return to_program_message(P::view());
}

/// Converts the program that initialises the parameters to a message. Fluid: startup program.
inline program_message to_startup_message(const program_view& program) {
  return detail::message_maker(program).startup_program();
}
template <program_type P>
program_message to_startup_message(P) {
  return to_startup_message(P::view());
}

}}  // namespace lamina
