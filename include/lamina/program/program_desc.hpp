// SPDX-License-Identifier: Apache-2.0
// lamina/program/program_desc.hpp - the records of a program and the value they freeze into.
//
// Why the records are terse: they are built during constant evaluation, where every member
// initialiser and every copied character costs steps (docs/compile_time.md). Lists lie in pools,
// names are composed when somebody asks for them, and no record has a default member initialiser.
#pragma once

#include <lamina/core/dtype.hpp>
#include <lamina/core/growing.hpp>
#include <lamina/program/operator_schema.hpp>

namespace lamina {

/// A name: a user's own (in the character pool), or key + "_" + number, as unique_name makes it.
struct name_desc {
  const char* key;  // null: the user's own name
  int offset, length;
  int number;  // -1: none
  int output;  // the variable that a layer of this name returned last, or -1
};

/// What a variable is for.
enum class variable_kind : std::uint8_t { temporary, data, parameter, gradient, accumulator };

/// A variable. Its name is text of `base` (or the name of variable `of`), `suffix`, `number`.
struct variable_desc {
  int base;            // into the names, or -1 when `of` is given
  int of;              // the variable this one is derived from (gradient, accumulator), or -1
  const char* suffix;  // ".tmp_", "@GRAD" ...
  int number;          // behind the suffix, or -1
  int dims, rank;      // the whole shape in the pool of dimensions; -1 stands for a run-time count
  int rows;            // row domain: 0 once, 1 batch
  int index;           // number among the data, the parameters or the accumulators; else -1
  int block;
  dtype type;
  variable_kind kind;
  bool persistable;
  bool stop_gradient;
};

/// An operator. `arguments` holds, slot by slot, inputs first, one variable or -1 for a plain slot,
/// a count and then the variables for a duplicable one.
struct operator_desc {
  const operator_schema* schema;
  int inputs;      // into the pool of arguments
  int outputs;     // where the outputs begin
  int end;         // one behind the last argument
  int attributes;  // into the pool of attributes, one a schema attribute; -1: all defaults
  int block;
  op_role role;
};

/// A block: operators of one lexical scope.
struct block_desc {
  int parent;         // -1 for the global block
  int forward_block;  // the block this one computes gradients for, or -1
};

/// Regularizers and clips of one parameter or of an optimizer.
enum class regularizer_kind : std::uint8_t { none, l1, l2 };
enum class clip_kind : std::uint8_t { none, value, norm, global_norm };

/// What ParamAttr says beyond name and initializer.
struct parameter_desc {
  int variable;
  float learning_rate;
  regularizer_kind regularizer;
  float regularizer_coefficient;
  clip_kind clip;
  float clip_low, clip_high;
  bool trainable;
};

/// The first fault that only values could show; reported after recording with its facts as types.
enum class fault_kind : std::uint8_t {
  none,
  parameter_shape,
  name_used_twice,
  foreign_variable,
  embedding_range
};
struct fault_desc {
  fault_kind kind;
  int line;
  int name, name_length;  // in the pool of characters
  int expected[4], found[4];
};

/// How many elements each array of a frozen program has.
struct program_counts {
  int variables, operators, arguments, attributes, dims, integers, reals, characters, names;
  int blocks, parameters, data, startup, outputs;

  constexpr bool operator==(const program_counts&) const = default;
};

constexpr int at_least_one(int n) { return n < 1 ? 1 : n; }

/// A program as a value: Fluid's ProgramDesc. Arrays have exactly the size that was recorded.
template <program_counts N>
struct program_desc {
  static constexpr program_counts count = N;

  variable_desc variables[at_least_one(N.variables)];
  operator_desc operators[at_least_one(N.operators)];
  int arguments[at_least_one(N.arguments)];
  attribute_value attributes[at_least_one(N.attributes)];
  int dims[at_least_one(N.dims)];
  int integers[at_least_one(N.integers)];
  float reals[at_least_one(N.reals)];
  char characters[at_least_one(N.characters)];
  name_desc names[at_least_one(N.names)];
  block_desc blocks[at_least_one(N.blocks)];
  parameter_desc parameters[at_least_one(N.parameters)];
  int data[at_least_one(N.data)];
  operator_desc startup[at_least_one(N.startup)];
  int outputs[at_least_one(N.outputs)];
  fault_desc fault;
  int cost;          // the scalar that training minimises, or -1
  int accumulators;  // how many accumulator variables there are
  bool is_test;
};

/// The same program as plain pointers and counts: what run-time code and passes read.
struct program_view {
  const variable_desc* variables;
  const operator_desc* operators;
  const int* arguments;
  const attribute_value* attributes;
  const int* dims;
  const int* integers;
  const float* reals;
  const char* characters;
  const name_desc* names;
  const block_desc* blocks;
  const parameter_desc* parameters;
  const int* data;
  const operator_desc* startup;
  const int* outputs;
  program_counts count;
  int cost;
  bool is_test;
};

/// A view of a frozen program.
template <program_counts N>
constexpr program_view view_of(const program_desc<N>& p) {
  return {p.variables, p.operators,  p.arguments, p.attributes, p.dims,       p.integers,
          p.reals,     p.characters, p.names,     p.blocks,     p.parameters, p.data,
          p.startup,   p.outputs,    N,           p.cost,       p.is_test};
}

}  // namespace lamina
