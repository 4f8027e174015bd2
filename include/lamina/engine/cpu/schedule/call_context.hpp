// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/schedule/call_context.hpp - the arguments of a kernel on the CPU: its arrays
// with their shapes, and its attributes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/engine/common/domain_rows.hpp>
#include <lamina/engine/common/operator_call.hpp>
#include <lamina/engine/common/real_numbers.hpp>
#include <lamina/engine/common/tensor_array.hpp>
#include <lamina/engine/cpu/memory/partial_sums.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// Allocates the memory of tensor arrays: each chunk is one aligned buffer.
struct buffer_chunks {
  using chunk = aligned_buffer;
  static chunk* make(std::size_t floats) { return new chunk(floats); }
};
using tensor_array = engine::tensor_array<buffer_chunks>;

using engine::argument_info;
using engine::operand;

/// The constants of a group in a schedule.
struct group_info {
  int rows, columns, depth;
  bool panel;     // whether the group's arrays are weights in panel layout
  bool turns;     // whether it reads its weights from the other end than turns_back()
                  // says, because the run has read them before
  int arguments;  // number of arguments
  const operator_schema* schema;  // the operator's schema, if the group is a call
  const operator_desc* op;        // holds the attributes; null for copies that the plan added
};

/// A sum over a large array that several threads compute together. The array is divided into
/// `parts` parts. Each thread computes the sums of the parts [first, end) and stores them in `of`;
/// a last call with an empty range adds the sums of all parts. If `of` is null, one thread computes
/// the whole sum.
struct shared_sums {
  static constexpr int parts = 64;
  double* of = nullptr;
  int first = 0, end = 0;
};

struct conv_methods;
class filter_memory;
struct batch_sums;

/// The values that change from run to run.
struct run_context {
  const int* rows;            // for each domain, its number of rows
  const int* const* offsets;  // for each domain, the rows at which its sequences begin
  // For each domain, the index in the mini-batch of the first row of this part.
  const std::int64_t* first_row;
  std::uint64_t seed;
  std::uint64_t step;  // number of the training step; random masks depend on it
  float* scratch;
  const row_allocator* allocator;            // null when all rows are fed
  const minibatch_source* source = nullptr;  // null if the program does not read mini-batches
  // 1 + index of the view whose address the operator sets; -1: the output refers to X.
  int view = 0;
  std::uint64_t iteration = 0;  // number of earlier executions of the operator's block in this run
  shared_sums sums = {};        // for an operator that several threads run together
  const conv_methods* convolutions = nullptr;  // the convolution algorithms that the program needs
  // Transformed filters that are kept; null for machines that train.
  filter_memory* filters = nullptr;
  bool is_odd_run = false;         // true in every second run of a machine
  partial_sums sums_of_rows = {};  // for a group that processes its rows part by part
  // Computes statistics over all parts of a mini-batch; null if the mini-batch is not divided.
  const batch_sums* all_parts = nullptr;

  int rows_of(int known) const { return operator_call::rows_of(rows, known); }
  /// Whether large weights are read from the end to the beginning. The direction alternates from
  /// run to run and from iteration to iteration, so that each begins with the weights that the
  /// previous run or iteration has left in the cache.
  bool turns_back() const { return is_odd_run != ((iteration & 1) != 0); }
};

/// The tensor array whose address an operand holds.
inline tensor_array& array_of(const operand& o) { return *static_cast<tensor_array*>(o.data); }

/// A call of an operator on the CPU: its arguments and attributes, and the services of the machine.
class call_context : public operator_call {
 public:
  call_context(const program_view& program, float* const* arguments, const argument_info* info,
               const group_info& group, const run_context& run)
      : operator_call(program, arguments, info, group.schema, group.op, run.rows), run_(run) {}

  /// The data of the run: row counts, seed, step and scratch memory.
  const run_context& run() const { return run_; }
  float* scratch() const { return run_.scratch; }

  /// The sequences into which the rows of an array are divided: one sequence for each row of the
  /// parent domain.
  sequence_rows sequences(const operand& o) const { return sequences(o.domain); }
  sequence_rows sequences(int domain) const {
    return {run_.offsets[domain], rows_in(parent_of(domain))};
  }

  /// Sets the number of rows of an output's domain. Memory may be reallocated, so the kernel must
  /// then get its operands again: their old addresses are invalid. For a fed domain, the number
  /// must equal the fed number; otherwise throws lamina::error.
  void set_rows(const operand& o, int rows) const { set_rows(o.domain, rows); }
  LAMINA_NOINLINE void set_rows(int domain, int rows) const {
    if (run_.allocator != nullptr && domain > 0)
      run_.allocator->set_rows(run_.allocator->machine, domain, rows);
  }
  /// Whether operators set the rows of some domains during the run; otherwise all domains are fed.
  bool makes_rows() const { return run_.allocator != nullptr; }
  /// Returns memory for the `sequences + 1` offsets of the sequences of an output's domain. The
  /// kernel writes the offsets there and then calls set_rows() with the last offset.
  int* make_offsets(const operand& o, int sequences) const {
    return make_offsets(o.domain, sequences);
  }
  int* make_offsets(int domain, int sequences) const {
    return run_.allocator->make_offsets(run_.allocator->machine, domain, sequences);
  }
  /// Whether the output is a view, that is, has no memory but refers to another array. The kernel
  /// must then set its address with show() instead of writing the output.
  bool shows() const { return run_.view > 0; }
  void show(void* data) const {
    run_.allocator->show(run_.allocator->machine, run_.view - 1, data);
  }
  /// Whether the output refers to the memory of X without a copy. The plan chooses this if the
  /// memory of X stays unchanged as long as any operator may read the output.
  bool refers() const { return run_.view < 0; }

 private:
  const run_context& run_;
};

/// The kernel of an operator that is not fused. Each operator specialises this template with
///   static void run(const call_context&);
/// and, if the kernel needs scratch memory, a function that returns its size in floats:
///   static std::ptrdiff_t scratch(const call_context&);
template <class Op>
struct call_kernel;

}}}  // namespace lamina::engine::cpu
