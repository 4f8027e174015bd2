// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/call_context.hpp - what a kernel is given: arrays, shapes, attributes.
#pragma once

#include <cstddef>
#include <cstdint>

#include <lamina/core/config.hpp>
#include <lamina/core/dtype.hpp>
#include <lamina/engine/cpu/domain_rows.hpp>
#include <lamina/engine/cpu/tensor_array.hpp>
#include <lamina/plan/instruction.hpp>

namespace lamina::engine::cpu {

/// What a schedule knows of an argument before any batch arrives.
struct argument_info {
  int rows;     // below zero: of a domain
  int columns;  // elements a row
  int stride;   // elements from row to row
  dtype type;
  bool panel;
  int dims, rank;  // the whole shape, in the program's pool
};

/// What a schedule knows of a group.
struct group_info {
  int rows, columns, depth;
  bool panel;                     // the group's arrays are weights in panels
  int arguments;                  // how many
  const operator_schema* schema;  // of a call
  const operator_desc* op;        // whose attributes count; null for the plan's own copies
};

/// What changes from run to run.
struct run_context {
  const int* rows;                // by domain
  const int* const* offsets;      // by domain: where sequences begin
  const std::int64_t* first_row;  // by domain: of this shard in the whole batch
  std::uint64_t seed;
  std::uint64_t step;  // of training; random masks depend on it
  float* scratch;
  const row_maker* maker;                    // null when all rows are fed
  const minibatch_source* source = nullptr;  // null when the program reads nothing
  std::uint64_t iteration = 0;  // how often the block of the operator was run before in this run

  /// Rows as a schedule knows them: a number, or a domain and how many rows each of its rows is.
  int rows_of(int known) const {
    return known < 0 ? rows[domain_of_rows(known)] * parts_of_rows(known) : known;
  }
};

/// An array as a kernel sees it: `rows` rows of `columns` elements, `stride` elements apart. The
/// inner dimensions are dims[1] ... for a batch (dims[0] is -1), all of dims otherwise.
struct operand {
  void* data;
  int rows, columns;
  std::ptrdiff_t stride;
  dtype type;
  bool panel;
  const int* dims;
  int rank;
  int domain = 0;  // of the rows; 0: none

  template <class T>
  T* row(int r) const {
    return static_cast<T*>(data) + r * stride;
  }
  explicit operator bool() const { return data != nullptr; }
};

/// The array of tensors that an operand stands for.
inline tensor_array& array_of(const operand& o) { return *static_cast<tensor_array*>(o.data); }

/// A call: an operator with its arguments for this run. Slots are numbered as the schema numbers
/// them.
class call_context {
 public:
  call_context(const program_view& program, float* const* arguments, const argument_info* info,
               const group_info& group, const run_context& run)
      : program_(program), arguments_(arguments), info_(info), group_(group), run_(run) {}

  const operator_schema& schema() const { return *group_.schema; }
  /// Rows of the batch, seed, step and scratch memory.
  const run_context& run() const { return run_; }
  float* scratch() const { return run_.scratch; }

  /// How many variables an input slot holds (1 for a plain slot, absent or not).
  int input_count(int slot) const {
    return schema().inputs[slot].duplicable ? program_.arguments[input_start(slot)] : 1;
  }
  int output_count(int slot) const {
    return schema().outputs[slot].duplicable ? program_.arguments[output_start(slot)] : 1;
  }
  /// The i-th variable of an input slot; its data is null when it is absent.
  LAMINA_NOINLINE operand input(int slot, int i = 0) const {
    int at = i;
    for (int s = 0; s < slot; ++s) at += input_count(s);
    return at_position(at);
  }
  /// The i-th variable of an output slot; its data is null when nobody wants it.
  LAMINA_NOINLINE operand output(int slot, int i = 0) const {
    int at = i;
    for (int s = 0; s < schema().input_count; ++s) at += input_count(s);
    for (int s = 0; s < slot; ++s) at += output_count(s);
    return at_position(at);
  }
  /// The n-th argument as it lies, whatever its slot; constants follow the inputs of an update.
  operand at_position(int n) const {
    const argument_info& i = info_[n];
    return {arguments_[n],
            run_.rows_of(i.rows),
            i.columns,
            i.stride,
            i.type,
            i.panel,
            program_.dims + i.dims,
            i.rank,
            i.rows < 0 ? -i.rows : 0};
  }
  float* address(int n) const { return arguments_[n]; }
  const argument_info& info(int n) const { return info_[n]; }

  /// The sequences that the rows of an array belong to: one for each row of the parent domain.
  sequence_rows sequences(const operand& o) const { return sequences(o.domain); }
  sequence_rows sequences(int domain) const {
    return {run_.offsets[domain], run_.rows[program_.domains[domain].parent]};
  }

  /// Sets the rows of the domain of an output. Arrays of this domain move: take operands anew. Rows
  /// that were fed must be as many.
  void set_rows(const operand& o, int rows) const { set_rows(o.domain, rows); }
  LAMINA_NOINLINE void set_rows(int domain, int rows) const {
    if (run_.maker != nullptr && domain > 0)
      run_.maker->set_rows(run_.maker->machine, domain, rows);
  }
  /// Whether rows of some domains are made while the program runs; else all were fed.
  bool makes_rows() const { return run_.maker != nullptr; }
  /// Memory for where the sequences of an output's domain begin and end, `sequences + 1` numbers;
  /// to be filled before set_rows() is called with the last of them.
  int* make_offsets(const operand& o, int sequences) const {
    return make_offsets(o.domain, sequences);
  }
  int* make_offsets(int domain, int sequences) const {
    return run_.maker->make_offsets(run_.maker->machine, domain, sequences);
  }
  /// The domain that the rows of `domain` belong to.
  int parent_of(int domain) const { return program_.domains[domain].parent; }
  /// What the rows of a domain are, and how many there are now.
  domain_kind kind_of(int domain) const { return program_.domains[domain].kind; }
  int rows_in(int domain) const { return run_.rows[domain]; }

  /// A number, truth value or integer among the attributes.
  LAMINA_NOINLINE double number(int attribute) const {
    if (group_.op != nullptr && group_.op->attributes >= 0)
      return program_.attributes[group_.op->attributes + attribute].number;
    return schema().attributes[attribute].number;
  }
  int integer(int attribute) const { return static_cast<int>(number(attribute)); }
  bool flag(int attribute) const { return number(attribute) != 0; }
  /// Length and elements of a list attribute.
  int list_size(int attribute) const { return list(attribute).count; }
  int integer_at(int attribute, int i) const {
    return program_.integers[list(attribute).offset + i];
  }
  float real_at(int attribute, int i) const { return program_.reals[list(attribute).offset + i]; }
  /// Position and length of a text in the program's characters.
  attribute_value list(int attribute) const {
    if (group_.op == nullptr || group_.op->attributes < 0) return {0, 0, 0};
    return program_.attributes[group_.op->attributes + attribute];
  }
  /// The operator's number among those of its kind in the program, for random streams.
  int ordinal() const {
    int n = 0;
    for (int k = 0; k < program_.count.operators && &program_.operators[k] != group_.op; ++k)
      n += program_.operators[k].schema == group_.op->schema ? 1 : 0;
    return n;
  }
  const program_view& program() const { return program_; }
  const operator_desc* op() const { return group_.op; }

 private:
  // Counts stand in the program's own list of arguments, before the variables of the slot.
  int input_start(int slot) const {
    int at = group_.op->inputs;
    for (int s = 0; s < slot; ++s)
      at += schema().inputs[s].duplicable ? 1 + program_.arguments[at] : 1;
    return at;
  }
  int output_start(int slot) const {
    int at = group_.op->outputs;
    for (int s = 0; s < slot; ++s)
      at += schema().outputs[s].duplicable ? 1 + program_.arguments[at] : 1;
    return at;
  }

  const program_view& program_;
  float* const* arguments_;
  const argument_info* info_;
  const group_info& group_;
  const run_context& run_;
};

/// The kernel of an operator that is not fused: specialise it with
///   static void run(const call_context&);
/// and, when it needs memory of its own, the floats for it:
///   static std::ptrdiff_t scratch(const call_context&);
template <class Op>
struct call_kernel;

}  // namespace lamina::engine::cpu
