// SPDX-License-Identifier: Apache-2.0
// lamina/program/program_builder.hpp - a program that grows during constant evaluation.
#pragma once

#include <string_view>

#include <lamina/core/rows.hpp>
#include <lamina/program/names.hpp>
#include <lamina/program/program_desc.hpp>

namespace lamina {

/// A counter of unique_name that belongs to a user's own name ("my_fc.tmp").
struct name_counter {
  int base;
  const char* suffix;
  int next;
};

/// A counter of unique_name for a kind of layer ("fc").
struct key_counter {
  const char* key;
  int next;
};

/// What append_backward keeps while it works (operators/gradient.hpp).
struct gradient_state;

/// The program under construction: recording, and every transform, appends to one.
/// Nothing here throws: what only values can show is kept as the first fault.
struct program_builder {
  growing<variable_desc> variables;
  growing<operator_desc> operators;
  growing<int> arguments;
  growing<attribute_value> attributes;
  growing<int> dims;
  growing<int> integers;
  growing<float> reals;
  growing<char> characters;
  growing<name_desc> names;
  growing<block_desc> blocks;
  growing<parameter_desc> parameters;
  growing<int> data;
  growing<operator_desc> startup;
  growing<int> outputs;
  growing<name_counter> counters;  // of users' own names
  growing<key_counter> keys;       // of kinds of layers
  growing<int> named_parameters;   // only these can be shared
  fault_desc fault;
  int cost = -1;
  int accumulators = 0;
  int current_block = 0;
  op_role role = op_role::forward;
  bool is_test = false;
  gradient_state* gradients = nullptr;

  constexpr program_builder() : fault{fault_kind::none, 0, 0, 0, {}, {}} {}

  // -- names ------------------------------------------------------------------------------------

  /// The next number of a kind of layer: 0 for the first fc.
  constexpr int next_of(const char* key) {
    const std::string_view wanted(key);
    for (int i = 0; i < keys.count; ++i)
      if (std::string_view(keys[i].key) == wanted) return keys[i].next++;
    keys.push({key, 1});
    return 0;
  }

  /// Name of a layer: the user's, taken as it is, or the next "fc_0".
  constexpr int layer_name(const char* key, std::string_view user) {
    if (!user.empty()) return own_name(user);
    return names.push({key, 0, 0, next_of(key), -1});
  }

  /// A user's own name; the same name twice is one entry.
  constexpr int own_name(std::string_view user) {
    for (int i = 0; i < names.count; ++i)
      if (names[i].key == nullptr &&
          std::string_view(characters.items + names[i].offset,
                           static_cast<std::size_t>(names[i].length)) == user)
        return i;
    return names.push({nullptr, put(user), static_cast<int>(user.size()), -1, -1});
  }

  /// Copies text into the pool of characters; returns where.
  constexpr int put(std::string_view text) {
    const int at = characters.count;
    const int n = static_cast<int>(text.size());
    if (at + n > characters.capacity) characters.reserve((at + n) * 2 + 256);
    for (int i = 0; i < n; ++i) characters.items[at + i] = text[static_cast<std::size_t>(i)];
    characters.count = at + n;
    return at;
  }

  // -- shapes -----------------------------------------------------------------------------------

  /// Puts a whole shape into the pool; returns where.
  template <class... D>
  constexpr int shape(D... extent) {
    const int at = dims.count;
    if (at + static_cast<int>(sizeof...(D)) > dims.capacity) dims.reserve((at + 8) * 2 + 256);
    ((dims.items[dims.count++] = static_cast<int>(extent)), ...);
    return at;
  }

  // -- variables --------------------------------------------------------------------------------

  /// Appends a variable; the caller fills what differs from a temporary.
  constexpr int add_variable(int base, const char* suffix, int number, int shape_at, int rank,
                             int rows, dtype type) {
    return variables.push({base, -1, suffix, number, shape_at, rank, rows, -1, current_block, type,
                           variable_kind::temporary, false, false});
  }

  // -- operators --------------------------------------------------------------------------------

  /// Begins an operator; its arguments follow by argument() and list().
  constexpr operator_desc begin(const operator_schema& schema) {
    return {&schema, arguments.count, 0, 0, -1, current_block, role};
  }
  /// Appends the variable of a plain slot (-1: empty).
  constexpr void argument(int variable) { arguments.push(variable); }
  /// Appends the variables of a duplicable slot.
  constexpr void list(const int* variable, int n) {
    arguments.push(n);
    for (int i = 0; i < n; ++i) arguments.push(variable[i]);
  }

  /// Appends an operator with plain slots only.
  template <int In, int Out>
  constexpr int add_operator(const operator_schema& schema, const int (&in)[In],
                             const int (&out)[Out], int attribute_at = -1) {
    const int at = arguments.count;
    if (at + In + Out > arguments.capacity) arguments.reserve((at + In + Out) * 4);
    for (int i = 0; i < In; ++i) arguments.items[at + i] = in[i];
    for (int i = 0; i < Out; ++i) arguments.items[at + In + i] = out[i];
    arguments.count = at + In + Out;
    return operators.push({&schema, at, at + In, at + In + Out, attribute_at, current_block, role});
  }

  /// Puts the attributes of an operator, in the order of its schema; returns where.
  template <class... V>
  constexpr int attribute_list(V... value) {
    const int at = attributes.count;
    (attributes.push(as_attribute(value)), ...);
    return at;
  }
  /// A list of integers as an attribute.
  constexpr attribute_value integer_list(const int* value, int n) {
    const int at = integers.count;
    for (int i = 0; i < n; ++i) integers.push(value[i]);
    return {0, at, n};
  }
  /// A list of reals as an attribute.
  constexpr attribute_value real_list(const float* value, int n) {
    const int at = reals.count;
    for (int i = 0; i < n; ++i) reals.push(value[i]);
    return {0, at, n};
  }
  /// Text as an attribute.
  constexpr attribute_value text(std::string_view value) {
    return {0, put(value), static_cast<int>(value.size())};
  }

  /// Keeps the first fault only: later ones mostly follow from it.
  constexpr void report(fault_kind kind, int line, std::string_view name, const int* expected,
                        int expected_rank, const int* found, int found_rank) {
    if (fault.kind != fault_kind::none) return;
    fault.kind = kind;
    fault.line = line;
    fault.name = put(name);
    fault.name_length = static_cast<int>(name.size());
    for (int i = 0; i < 4; ++i) {
      fault.expected[i] = i < expected_rank ? expected[i] : 0;
      fault.found[i] = i < found_rank ? found[i] : 0;
    }
  }

 private:
  static constexpr attribute_value as_attribute(attribute_value v) { return v; }
  static constexpr attribute_value as_attribute(double v) { return {v, 0, 0}; }
  static constexpr attribute_value as_attribute(float v) { return {v, 0, 0}; }
  static constexpr attribute_value as_attribute(int v) { return {static_cast<double>(v), 0, 0}; }
  static constexpr attribute_value as_attribute(bool v) { return {v ? 1.0 : 0.0, 0, 0}; }
};

/// Sizes of the frozen form of a program.
constexpr program_counts count_of(const program_builder& b) {
  return {b.variables.count, b.operators.count, b.arguments.count,  b.attributes.count,
          b.dims.count,      b.integers.count,  b.reals.count,      b.characters.count,
          b.names.count,     b.blocks.count,    b.parameters.count, b.data.count,
          b.startup.count,   b.outputs.count};
}

/// Copies an array into its frozen place; an empty one has a single zero element.
template <class T>
constexpr void freeze_items(T* to, const T* from, int count) {
  copy_items(to, from, count);
  if (count == 0) to[0] = T{};
}

/// The program as a value of exactly its size.
template <program_counts N>
constexpr program_desc<N> freeze(const program_builder& b) {
  program_desc<N> p;
  freeze_items(p.variables, b.variables.items, N.variables);
  freeze_items(p.operators, b.operators.items, N.operators);
  freeze_items(p.arguments, b.arguments.items, N.arguments);
  freeze_items(p.attributes, b.attributes.items, N.attributes);
  freeze_items(p.dims, b.dims.items, N.dims);
  freeze_items(p.integers, b.integers.items, N.integers);
  freeze_items(p.reals, b.reals.items, N.reals);
  freeze_items(p.characters, b.characters.items, N.characters);
  freeze_items(p.names, b.names.items, N.names);
  freeze_items(p.blocks, b.blocks.items, N.blocks);
  freeze_items(p.parameters, b.parameters.items, N.parameters);
  freeze_items(p.data, b.data.items, N.data);
  freeze_items(p.startup, b.startup.items, N.startup);
  freeze_items(p.outputs, b.outputs.items, N.outputs);
  p.fault = b.fault;
  p.cost = b.cost;
  p.accumulators = b.accumulators;
  p.is_test = b.is_test;
  return p;
}

/// Fills an array of the builder with a frozen one and leaves room to append.
template <class T>
constexpr void fill(growing<T>& to, const T* from, int count, int extra) {
  to.reserve(count + extra);
  copy_items(to.items, from, count);
  to.count = count;
}

/// Begins a transform: the builder continues where the frozen program ends.
template <program_counts N>
constexpr void thaw(program_builder& b, const program_desc<N>& p) {
  fill(b.variables, p.variables, N.variables, N.variables * 2 + 8);
  fill(b.operators, p.operators, N.operators, N.operators * 2 + 8);
  fill(b.arguments, p.arguments, N.arguments, N.arguments * 4 + 64);
  fill(b.attributes, p.attributes, N.attributes, N.attributes + 16);
  fill(b.dims, p.dims, N.dims, 16);
  fill(b.integers, p.integers, N.integers, 8);
  fill(b.reals, p.reals, N.reals, 8);
  fill(b.characters, p.characters, N.characters, 64);
  fill(b.names, p.names, N.names, 8);
  fill(b.blocks, p.blocks, N.blocks, 1);
  fill(b.parameters, p.parameters, N.parameters, 1);
  fill(b.data, p.data, N.data, 1);
  fill(b.startup, p.startup, N.startup, 8);
  fill(b.outputs, p.outputs, N.outputs, 1);
  b.fault = p.fault;
  b.cost = p.cost;
  b.accumulators = p.accumulators;
  b.is_test = p.is_test;
}

/// The variable in the n-th input slot of an operator without a duplicable slot before it.
template <class Program>
constexpr int input_of(const Program& p, const operator_desc& op, int slot) {
  return p.arguments[op.inputs + slot];
}
/// The variable in the n-th output slot of an operator without a duplicable slot before it.
template <class Program>
constexpr int output_of(const Program& p, const operator_desc& op, int slot) {
  return p.arguments[op.outputs + slot];
}

}  // namespace lamina
