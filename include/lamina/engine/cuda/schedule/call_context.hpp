// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/schedule/call_context.hpp - one call of an operator or fused group on the
// host: its arrays, attributes and the data of the current run.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

#include <lamina/engine/common/array_layout.hpp>
#include <lamina/engine/common/call_error.hpp>
#include <lamina/engine/common/domain_rows.hpp>
#include <lamina/engine/cuda/schedule/call_arguments.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// The meaning of a number that a kernel checks, which determines its valid range. `element` is the
/// index of an element in a line of input 0, `row` the index of a row of input 0, and `attribute`
/// an index below the value of attribute 0. `fraction` is a number from 0 to 1. `length` is the
/// length of a sequence whose rows must fit in one row of output 0.
enum class chosen : std::uint8_t { element, row, attribute, fraction, length };

struct call_context;

/// An input whose numbers a kernel checks. `slot` is the input; `what` is the noun for such a
/// number in the error message. `rule` is the text of a second condition, for numbers that are in
/// range but still invalid. `count`, if set, returns the upper limit of the range, where `from`
/// does not determine it. Element indices past the end of the input refer to input `next_slot`.
/// `tell`, if set, throws a special error for element i in place of the general one.
struct checked_input {
  int slot = -1;
  const char* what = "";
  chosen from = chosen::element;
  const char* rule = "";
  int (*count)(const call_context&) = nullptr;
  int next_slot = -1;
  void (*tell)(const call_context&, int i) = nullptr;
};

/// The constant facts about a group of a schedule.
struct group_info {
  int variable;  // a variable that the group writes, for messages; -1: none
  int rows, columns, depth;
  const operator_schema* schema;  // the operator of an unfused call
  const operator_desc* op;        // holds the attributes; null for a copy that the plan inserted
};

/// Functions by which kernels' host code copies numbers between host and device, for programs with
/// loops and branches.
struct device_reader {
  void* machine;
  void (*read)(void* machine, void* to, const void* from, std::size_t bytes);  // blocking
  /// Does not wait for the device. The caller may change or release `from` at once, because the
  /// numbers are first copied to other host memory.
  void (*write)(void* machine, void* to, const void* from, std::size_t bytes);
  /// Sends the sequence offsets of a domain to the device.
  void (*send_offsets)(void* machine, int domain);
  /// Returns the host's copy of the counter at device address `at`, which no kernel changes during
  /// a run. The first call in a run waits for the device.
  std::int64_t& (*count)(void* machine, const void* at);
};

/// The data of a call that change between runs.
struct run_context {
  const int* rows;                // by domain
  const int* const* offsets;      // by domain: sequence offsets, in device memory
  const std::int64_t* first_row;  // by domain
  const std::uint64_t* seed;      // in device memory: the seed of the run plus the step
  fault_word* fault;
  float* scratch;  // scratch memory of the running group, in device memory
  // The members below are only used for programs with loops and branches.
  const row_allocator* allocator = nullptr;
  const device_reader* reader = nullptr;
  const int* const* host_offsets = nullptr;  // by domain: sequence offsets, in host memory
  int view = 0;  // 1 + the index of the view that the operator sets; -1: X keeps its memory
  std::uint64_t iteration = 0;  // number of earlier executions of the operator's block in this run
  const minibatch_source* source = nullptr;  // source for read_minibatch
  unsigned long long given = ~0ull;          // bit mask of the data that this run gets

  int rows_of(int known) const { return operator_call::rows_of(rows, known); }
};

/// Converts an operand to an argument of kernels.
inline argument_view view_of_operand(const operand& o) {
  const int inner = o.domain != 0 ? 1 : 0;  // the first dimension that does not count rows
  return {o.data,   o.rows, o.columns, o.rank > inner ? o.dims[o.rank - 1] : o.columns,
          o.stride, o.type};
}

/// One call of a group of the schedule, with its operands and the data of the run.
struct call_context : operator_call {
  const group_info& group;
  const run_context& run;
  int number_of_group;
  float* const* arguments;
  /// The addresses of the same arguments in the other memory: host addresses if `arguments` has
  /// device addresses, and vice versa. A call that the host computes uses them. Null for an
  /// argument that is not in that memory.
  float* const* others;

  call_context(const program_view& program, float* const* all, const argument_info* info,
               const group_info& g, const run_context& state, int number,
               float* const* elsewhere = nullptr)
      : operator_call(program, all, info, g.schema, g.op, state.rows),
        group(g),
        run(state),
        number_of_group(number),
        arguments(all),
        others(elsewhere) {}

  /// The only variable of an input or output slot. Slots are numbered as in the operator's schema.
  argument_view in(int slot) const { return view_of_operand(input(slot)); }
  argument_view out(int slot) const { return view_of_operand(output(slot)); }

  /// The sequences of a domain: one per row of its parent domain.
  sequence_view sequences(int domain) const {
    return {run.offsets[domain], rows_in(parent_of(domain))};
  }

  /// An input with the address of its host copy. The address is null if only the device has the
  /// input.
  operand on_host(int slot) const {
    operand o = input(slot);
    o.data = others == nullptr ? nullptr : others[position_of_input(slot)];
    return o;
  }
  /// Reads an input that holds one number: the index of a row, a time step or an array slot. Waits
  /// for the device if the host has no copy.
  int index_in(int slot) const {
    operand o = on_host(slot);
    std::int64_t number = 0;
    if (!o) {
      run.reader->read(run.reader->machine, &number, input(slot).data,
                       static_cast<std::size_t>(size_of(o.type)));
      o.data = &number;
    }
    const std::int64_t n = load_integer(o.data, o.type, 0);
    if (n < 0 || n >= (std::numeric_limits<int>::max)())
      fail(*this, {"expected an index from 0 on, found ", n});
    return static_cast<int>(n);
  }
  /// The source of an operator's random numbers. `first` is its stream in the first iteration. It
  /// uses the operator's own seed if `has_own`, otherwise the seed of the run.
  random_source random(std::uint64_t first, std::uint64_t own_seed, bool has_own) const {
    return {own_seed, later_stream(first, run.iteration), has_own ? nullptr : run.seed};
  }
  /// Sets the number of rows of a domain. This may move the arrays of the domain, so the caller
  /// must get the operands again.
  void set_rows(int domain, int rows) const {
    if (run.allocator != nullptr && domain > 0)
      run.allocator->set_rows(run.allocator->machine, domain, rows);
  }
  /// Whether the number of rows of a domain has been set in this iteration.
  bool knows_rows(int domain) const { return run.allocator->knows(run.allocator->machine, domain); }
  /// Whether the output is a view, that is, memory of another array. The kernel then sets its
  /// address by show().
  bool shows() const { return run.view > 0; }
  void show(void* data) const { run.allocator->show(run.allocator->machine, run.view - 1, data); }
  /// Whether the output may refer to X without a copy: X keeps its memory as long as any operator
  /// may read the variable to which X is assigned.
  bool refers() const { return run.view < 0; }

  /// set_arrays() sets the arrays by slot. share_lines() and share_rows() distribute the lines or
  /// the rows of one array over the teams of threads.
  void set_arrays(call_arguments& a, int inputs, int outputs) const {
    for (int i = 0; i < inputs; ++i) a.in[i] = in(i);
    for (int i = 0; i < outputs; ++i) a.out[i] = out(i);
  }
  void share_lines(call_arguments& a, const argument_view& of) const {
    a.lines = of.lines();
    a.width = of.line;
  }
  void share_rows(call_arguments& a, const argument_view& of) const {
    a.lines = of.rows;
    a.width = of.columns;
  }

 private:
  int position_of_input(int slot) const {
    int at = 0;
    for (int s = 0; s < slot; ++s) at += input_count(s);
    return at;
  }
};

/// The kernel of an operator that is not fused. A specialisation for operator Op has either
///   static void prepare(const call_context&, call_arguments&);  on the host: arrays and numbers
///   template <class Team>
///   LAMINA_FN static void line(const call_arguments&, int line, const Team&);
/// and, if numbers may be out of range, `static constexpr checked_input checked`; or it launches
/// its own bodies:
///   template <class Backend> static void launch(Backend&, const call_context&);
///   static constexpr bool launches = true;
/// A specialisation with a single body derives from elements_call or lines_call
/// (engine/cuda/body/bound_kernel.cuh). If it needs scratch memory, `static std::ptrdiff_t
/// scratch(const call_context&)` returns the number of floats. An operator that the host may
/// compute also has, or has only, `template <class Backend> static void here(Backend&, const
/// call_context&)`. The arguments of `here` are host addresses.
template <class Op>
struct call_kernel;

}}}  // namespace lamina::engine::cuda
