// SPDX-License-Identifier: Apache-2.0
// lamina/program/program_desc.hpp - the records that form a program.
//
// The records are compact because constant evaluation builds them: every member initialiser and
// every copied character costs steps of the compiler (docs/compile_time.md). So lists are ranges of
// arrays that all records share (pools), names are composed when they are needed, and no record has
// a default member initialiser.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/compile_time/constexpr_vector.hpp>
#include <lamina/core/dtype.hpp>
#include <lamina/core/rows.hpp>
#include <lamina/program/operator_schema.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The name of a layer or variable: given by the user and stored in the pool of characters, or
/// generated as key + "_" + number, as Fluid's unique_name does.
struct name_desc {
  const char* key;  // key of a generated name; null for a user's name
  int offset, length;
  int number;  // the number after the key; -1: none
  int output;  // the variable that the latest layer of this name returned, or -1
};

/// The role of a variable. A tensor_array holds any number of values of the variable's shape, and a
/// step_scopes holds the values that the iterations of a loop keep for its gradient. A
/// selected_rows is a sparse gradient: some rows with their numbers, and all other rows are zero.
enum class variable_kind : std::uint8_t {
  temporary,
  data,
  parameter,
  gradient,
  accumulator,
  tensor_array,
  step_scopes,
  selected_rows
};

/// A variable. Its name is composed of `base` (or the name of variable `of`), `suffix` and
/// `number`.
struct variable_desc {
  int base;            // index of a name, or -1 if `of` is set
  int of;              // the variable whose gradient or accumulator this is, or -1
  const char* suffix;  // ".tmp_", "@GRAD" ...
  int number;          // the number after the suffix, or -1
  int dims, rank;      // the shape in the pool of dimensions; an extent of -1 is known at run time
  int rows;            // number of the row domain
  int index;           // index among the data, the parameters or the accumulators; else -1
  int block;
  dtype type;
  variable_kind kind;
  bool persistable;
  bool stop_gradient;
};

/// An operator. `arguments` holds the slots in order, inputs first: for a duplicable slot a count
/// and then the variables, for other slots one variable or -1.
struct operator_desc {
  const operator_schema* schema;
  int inputs;      // index of its first argument in the pool of arguments
  int outputs;     // index of its first output in that pool
  int end;         // the index after the last argument
  int attributes;  // index of its first attribute, one per schema attribute; -1: all defaults
  int block;
  op_role role;
};

/// A block: the global block, or the body of a loop or branch. Operators and variables store its
/// number.
struct block_desc {
  int parent;         // -1 for the global block
  int forward_block;  // the block whose gradients this block computes, or -1
};

/// A row domain: the meaning of the rows of variables (core/rows.hpp). Domain 0 is `once`, domain 1
/// `batch`.
struct domain_desc {
  domain_kind kind;
  int parent;          // another domain, or -1
  int offset, length;  // the name, in the pool of characters
  int chosen_by;       // subset: a variable with these rows that has a value in each run; else -1
};

/// The kinds of regularizers and clips, of one parameter or of an optimizer.
enum class regularizer_kind : std::uint8_t { none, l1, l2 };
enum class clip_kind : std::uint8_t { none, value, norm, global_norm };

/// The options of ParamAttr for one parameter, except name and initializer.
struct parameter_desc {
  int variable;
  float learning_rate;
  regularizer_kind regularizer;
  float regularizer_coefficient;
  clip_kind clip;
  float clip_low, clip_high;
  bool trainable;
};

/// The kinds of mistakes that depend on values instead of types. The first mistake of a program is
/// reported after the recording, as an error that shows the members of fault_desc as types.
enum class fault_kind : std::uint8_t {
  none,
  parameter_shape,
  name_used_twice,
  foreign_variable,
  embedding_range,
  program_size,
  loop_condition,
  unstable_body,
  branch_writes,
  out_of_block,
  no_memory,
  pooling_type,
  changing_numbers,
  rows_update,
  norm_limits,
  cost_block,
  stale_rows,
  option_range,
  minibatch_over,
  parameter_options,
  first_memory,
  memory_type,
  branch_result,
  step_input,
  step_result,
  no_parameter,
  stored_variable,
  gradient_block,
  gradient_unreached,
  gradient_of_rows,
  second_gradient,
  stored_too_early,
  memory_size,
  unfinished  // the record function does not compile; the compiler has already reported it
};
/// The first mistake of a recording: its kind, the user's line, a name, and two shapes or numbers.
struct fault_desc {
  fault_kind kind;
  int line;
  int name, name_length;  // the name, as a range of the pool of characters
  int expected[4], found[4];
};

/// The number of used elements of each array of a program.
struct program_counts {
  int variables, operators, arguments, attributes, dims, integers, reals, characters, names;
  int blocks, parameters, data, startup, outputs, domains;

  constexpr bool operator==(const program_counts&) const = default;
};

/// Returns the length of an array of n elements: at least 1, because C++ has no arrays of length 0.
constexpr int at_least_one(int n) { return n < 1 ? 1 : n; }

/// The largest numbers of variables, operators and so on in one program. With larger limits an
/// array of a plan could exceed 2^20 elements, which clang does not accept in a constant
/// expression. nvcc has lower limits, because its front end stores every zero of a constant: with
/// the limits of other compilers it needs more than 11 GB.
#if defined(LAMINA_CUDA_KERNELS_ALONE)
// No program is recorded when kernels are compiled separately.
inline constexpr program_counts program_limits{64, 64, 64, 64, 64, 64, 64, 64,
                                               64, 64, 64, 64, 64, 64, 64};
#elif defined(__CUDACC__) && !defined(__clang__)
inline constexpr program_counts program_limits{512, 256, 2048, 2048, 2048, 512, 512, 4096,
                                               512, 64,  256,  64,   256,  64,  64};
#else
inline constexpr program_counts program_limits{32768, 32768, 131072, 131072, 131072,
                                               32768, 32768, 131072, 32768,  4096,
                                               16384, 1024,  16384,  1024,   1024};
#endif

/// A program as a value: Fluid's ProgramDesc.
///
/// Every array has capacity for the largest program. Compilers store the unused elements as a
/// single zero, so they cost nothing, whereas arrays of exact size would need a second evaluation
/// that only counts. A transform begins with a copy of the whole value, which is one step of the
/// compiler for any size. Run-time code must not use the value, which has megabytes, but a
/// `frozen_program` or tables derived from it.
struct program_desc {
  program_counts count;
  variable_desc variables[program_limits.variables];
  operator_desc operators[program_limits.operators];
  int arguments[program_limits.arguments];
  attribute_value attributes[program_limits.attributes];
  int dims[program_limits.dims];
  int integers[program_limits.integers];
  float reals[program_limits.reals];
  char characters[program_limits.characters];
  name_desc names[program_limits.names];
  block_desc blocks[program_limits.blocks];
  parameter_desc parameters[program_limits.parameters];
  int data[program_limits.data];
  operator_desc startup[program_limits.startup];
  int outputs[program_limits.outputs];
  domain_desc domains[program_limits.domains];
  fault_desc fault;
  int cost;          // the scalar that training minimises, or -1
  int accumulators;  // number of accumulator variables
  bool is_test;
  second_gradient_rule again;  // the gradients of gradient operators; null without layer::gradients
};

namespace detail {
constexpr program_desc make_empty_program() {
  program_desc p{};
  p.cost = -1;
  p.domains[once::domain] = {domain_kind::once, -1, 0, 0, -1};
  p.domains[batch::domain] = {domain_kind::batch, -1, 0, 0, -1};
  p.count.domains = 2;
  return p;
}
}  // namespace detail

/// A program that contains only the two domains that every program has.
inline constexpr program_desc empty_program = detail::make_empty_program();

/// A program as plain pointers and counts, for run-time code and passes.
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
  const domain_desc* domains;
  program_counts count;
  int cost;
  bool is_test;
  bool is_read;  // read from a file: the shapes of results and sequences are known only in a run
  /// A unique number for every program that was read from a file. With this number, code can
  /// distinguish a program from an earlier program that was at the same address. The number is 0
  /// for recorded programs, whose addresses are unique.
  std::uint64_t reading = 0;
};

/// Returns a view of a program.
template <class Program>
constexpr program_view view_of(const Program& p) {
  return {p.variables,  p.operators, p.arguments, p.attributes, p.dims, p.integers, p.reals,
          p.characters, p.names,     p.blocks,    p.parameters, p.data, p.startup,  p.outputs,
          p.domains,    p.count,     p.cost,      p.is_test,    false};
}

/// A program in arrays of its exact size, for run-time code.
template <program_counts N>
struct frozen_program {
  static constexpr program_counts count = N;
  variable_desc variables[bound(N.variables)];
  operator_desc operators[bound(N.operators)];
  int arguments[bound(N.arguments)];
  attribute_value attributes[bound(N.attributes)];
  int dims[bound(N.dims)];
  int integers[bound(N.integers)];
  float reals[bound(N.reals)];
  char characters[bound(N.characters)];
  name_desc names[bound(N.names)];
  block_desc blocks[bound(N.blocks)];
  parameter_desc parameters[bound(N.parameters)];
  int data[bound(N.data)];
  operator_desc startup[bound(N.startup)];
  int outputs[bound(N.outputs)];
  domain_desc domains[bound(N.domains)];
  int cost;
  bool is_test;
};

/// Copies a program into arrays of its exact size.
template <program_counts N>
constexpr frozen_program<N> freeze(const program_desc& p) {
  frozen_program<N> f{};
  copy_items(f.variables, p.variables, N.variables);
  copy_items(f.operators, p.operators, N.operators);
  copy_items(f.arguments, p.arguments, N.arguments);
  copy_items(f.attributes, p.attributes, N.attributes);
  copy_items(f.dims, p.dims, N.dims);
  copy_items(f.integers, p.integers, N.integers);
  copy_items(f.reals, p.reals, N.reals);
  copy_items(f.characters, p.characters, N.characters);
  copy_items(f.names, p.names, N.names);
  copy_items(f.blocks, p.blocks, N.blocks);
  copy_items(f.parameters, p.parameters, N.parameters);
  copy_items(f.data, p.data, N.data);
  copy_items(f.startup, p.startup, N.startup);
  copy_items(f.outputs, p.outputs, N.outputs);
  copy_items(f.domains, p.domains, N.domains);
  f.cost = p.cost;
  f.is_test = p.is_test;
  return f;
}

/// Returns the block that an operator runs (while, conditional_block and their gradients), or -1.
template <class Program>
constexpr int sub_block_of(const Program& p, const operator_desc& op) {
  return op.attributes >= 0 && op.schema->attribute_count > 0 &&
                 op.schema->attributes[0].type == attribute_type::block
             ? static_cast<int>(p.attributes[op.attributes].number)
             : -1;
}

/// Whether `block` is `outer` or inside it.
template <class Program>
constexpr bool is_inside(const Program& p, int block, int outer) {
  while (block > outer) block = p.blocks[block].parent;
  return block == outer;
}

/// Returns the variable in input slot `slot`, before which the operator must not have a duplicable
/// slot: otherwise the position of the argument is wrong.
template <class Program>
constexpr int input_of(const Program& p, const operator_desc& op, int slot) {
  return p.arguments[op.inputs + slot];
}
/// Returns the variable in output slot `slot`, with the same condition for the output slots.
template <class Program>
constexpr int output_of(const Program& p, const operator_desc& op, int slot) {
  return p.arguments[op.outputs + slot];
}

}}  // namespace lamina
