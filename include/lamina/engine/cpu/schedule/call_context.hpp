// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/schedule/call_context.hpp - the arguments of a kernel: arrays, shapes,
// attributes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/engine/common/domain_rows.hpp>
#include <lamina/engine/common/operator_call.hpp>
#include <lamina/engine/common/real_numbers.hpp>
#include <lamina/engine/cpu/memory/partial_sums.hpp>
#include <lamina/engine/cpu/memory/tensor_array.hpp>

namespace lamina::inline LAMINA_ABI::engine::cpu {

using engine::argument_info;
using engine::operand;

/// The constants of a group in a schedule.
struct group_info {
  int rows, columns, depth;
  bool panel;                     // the group's arrays are weights in panels
  int arguments;                  // how many
  const operator_schema* schema;  // of a call
  const operator_desc* op;        // gives the attributes; null for the plan's own copies
};

/// A sum over a large array that several threads compute together: each thread writes some of the
/// parts; a call with an empty range of parts adds them up. Without memory for the parts one thread
/// computes the whole sum.
struct shared_sums {
  static constexpr int parts = 64;
  double* of = nullptr;
  int first = 0, end = 0;
};

struct conv_methods;
class filter_memory;

/// The data that change from run to run.
struct run_context {
  const int* rows;                // by domain
  const int* const* offsets;      // by domain: where sequences begin
  const std::int64_t* first_row;  // by domain: of this shard in the whole batch
  std::uint64_t seed;
  std::uint64_t step;  // of training; random masks depend on it
  float* scratch;
  const row_allocator* allocator;            // null when all rows are fed
  const minibatch_source* source = nullptr;  // null when the program reads nothing
  int view = 0;  // 1 + the number of the view that the operator sets; -1: its X stays in place
  std::uint64_t iteration = 0;  // how often the block of the operator was run before in this run
  shared_sums sums = {};        // of an operator that several threads run together
  const conv_methods* convolutions = nullptr;  // the special algorithms of the program
  filter_memory* filters = nullptr;            // for machines that do not train; else null
  bool is_odd_run = false;                     // true in every second run of a machine
  partial_sums sums_of_rows = {};  // of a group that processes a part of its rows at a time

  int rows_of(int known) const { return operator_call::rows_of(rows, known); }
  /// Whether large weights are read from the end: the previous run or iteration read them from the
  /// beginning.
  bool turns_back() const { return is_odd_run != ((iteration & 1) != 0); }
};

/// The array of tensors that an operand stands for.
inline tensor_array& array_of(const operand& o) { return *static_cast<tensor_array*>(o.data); }

/// A call of an operator on the CPU, with the services of the machine.
class call_context : public operator_call {
 public:
  call_context(const program_view& program, float* const* arguments, const argument_info* info,
               const group_info& group, const run_context& run)
      : operator_call(program, arguments, info, group.schema, group.op, run.rows), run_(run) {}

  /// Rows of the batch, seed, step and scratch memory.
  const run_context& run() const { return run_; }
  float* scratch() const { return run_.scratch; }

  /// The sequences that the rows of an array belong to: one for each row of the parent domain.
  sequence_rows sequences(const operand& o) const { return sequences(o.domain); }
  sequence_rows sequences(int domain) const {
    return {run_.offsets[domain], rows_in(parent_of(domain))};
  }

  /// Sets the rows of the domain of an output. This moves the arrays of the domain: get the
  /// operands again. For a fed domain the number must equal the fed one.
  void set_rows(const operand& o, int rows) const { set_rows(o.domain, rows); }
  LAMINA_NOINLINE void set_rows(int domain, int rows) const {
    if (run_.allocator != nullptr && domain > 0)
      run_.allocator->set_rows(run_.allocator->machine, domain, rows);
  }
  /// Whether operators set the rows of some domains during the run; otherwise all domains are fed.
  bool makes_rows() const { return run_.allocator != nullptr; }
  /// Memory for the offsets of the sequences of an output's domain, `sequences + 1` numbers. Fill
  /// it before you call set_rows() with the last of them.
  int* make_offsets(const operand& o, int sequences) const {
    return make_offsets(o.domain, sequences);
  }
  int* make_offsets(int domain, int sequences) const {
    return run_.allocator->make_offsets(run_.allocator->machine, domain, sequences);
  }
  /// Whether the output is a view: the kernel sets its address by show().
  bool shows() const { return run_.view > 0; }
  void show(void* data) const {
    run_.allocator->show(run_.allocator->machine, run_.view - 1, data);
  }
  /// Whether X keeps its memory as long as an operator may read the variable that it is assigned
  /// to.
  bool refers() const { return run_.view < 0; }

 private:
  const run_context& run_;
};

/// The kernel of an operator that is not fused: specialise it with
///   static void run(const call_context&);
/// and, if it needs scratch memory, the number of its floats:
///   static std::ptrdiff_t scratch(const call_context&);
template <class Op>
struct call_kernel;

}  // namespace lamina::inline LAMINA_ABI::engine::cpu
