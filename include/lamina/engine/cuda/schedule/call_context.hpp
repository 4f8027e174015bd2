// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/schedule/call_context.hpp - a call of the schedule on the host: its arrays and
// attributes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

#include <lamina/engine/common/array_layout.hpp>
#include <lamina/engine/common/call_error.hpp>
#include <lamina/engine/common/row_allocator.hpp>
#include <lamina/engine/cuda/schedule/call_arguments.cuh>

namespace lamina::inline LAMINA_ABI::engine::cuda {

/// The meaning of a checked number. `element`: the index of an element in a line of input 0; `row`:
/// the index of a row of input 0; `attribute`: an index below attribute 0; `fraction`: a number
/// from 0 to 1; `length`: the length of a sequence whose rows must fit in a row of output 0.
enum class chosen : std::uint8_t { element, row, attribute, fraction, length };

struct call_context;

/// An input whose numbers a kernel checks: its slot, the word for such a number in a message
/// (`what`), and a further condition on numbers in range (`rule`). `count` returns how many numbers
/// there are if `from` does not determine it. Elements after the last one of the input are those of
/// input `next_slot`. `tell`, if set, throws the error for element i in place of the general one.
struct checked_input {
  int slot = -1;
  const char* what = "";
  chosen from = chosen::element;
  const char* rule = "";
  int (*count)(const call_context&) = nullptr;
  int next_slot = -1;
  void (*tell)(const call_context&, int i) = nullptr;
};

/// The constants of a group in a schedule.
struct group_info {
  int variable;  // a variable that the group writes, for messages; -1: none
  int rows, columns, depth;
  const operator_schema* schema;  // of a call
  const operator_desc* op;        // gives the attributes; null for the plan's own copies
};

/// Functions by which the host reads numbers from the device and sends its own, in programs with
/// loops and branches.
struct device_reader {
  void* machine;
  void (*read)(void* machine, void* to, const void* from, std::size_t bytes);  // waits
  /// Does not wait. The caller may change or release `from` at once, because the numbers are
  /// copied.
  void (*write)(void* machine, void* to, const void* from, std::size_t bytes);
  /// Sends the sequence offsets of a domain to the device.
  void (*send_offsets)(void* machine, int domain);
  /// The host's copy of a counter on the device that no kernel changes during a run. The first call
  /// in a run waits for the device.
  std::int64_t& (*count)(void* machine, const void* at);
};

/// The data that change from run to run.
struct run_context {
  const int* rows;                // by domain
  const int* const* offsets;      // by domain: where sequences begin, in device memory
  const std::int64_t* first_row;  // by domain
  const std::uint64_t* seed;      // in device memory: of the run + step
  fault_word* fault;
  float* scratch;  // of the group that runs, in device memory
  // Only for programs with loops and branches:
  const row_allocator* allocator = nullptr;
  const device_reader* reader = nullptr;
  const int* const* host_offsets = nullptr;  // by domain
  int view = 0;  // 1 + the number of the view that the operator sets; -1: its X stays in place
  std::uint64_t iteration = 0;  // how often the block of the operator was run before in this run
  const minibatch_source* source = nullptr;  // of read_minibatch
  unsigned long long given = ~0ull;          // data of this run, one bit each

  int rows_of(int known) const { return operator_call::rows_of(rows, known); }
};

/// An operand as an argument of kernels.
inline argument_view view_of_operand(const operand& o) {
  const int inner = o.domain != 0 ? 1 : 0;  // the first dimension that does not count rows
  return {o.data,   o.rows, o.columns, o.rank > inner ? o.dims[o.rank - 1] : o.columns,
          o.stride, o.type};
}

/// One call of a group of the schedule.
struct call_context : operator_call {
  const group_info& group;
  const run_context& run;
  int number_of_group;
  float* const* arguments;
  /// Addresses of the same arguments in the other memory, host or device; a call that the host runs
  /// itself uses them. Null for arguments without one.
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

  /// Slots are numbered as the schema numbers them; each holds one variable.
  argument_view in(int slot) const { return view_of_operand(input(slot)); }
  argument_view out(int slot) const { return view_of_operand(output(slot)); }

  /// The sequences that the rows of a domain belong to: one for each row of its parent.
  sequence_view sequences(int domain) const {
    return {run.offsets[domain], rows_in(parent_of(domain))};
  }

  /// An input with the address of its host copy; null if only the device has the input.
  operand on_host(int slot) const {
    operand o = input(slot);
    o.data = others == nullptr ? nullptr : others[position_of_input(slot)];
    return o;
  }
  /// The index of a row, a step or a slot: the only number of an input. Waits for the device if
  /// only the device knows it.
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
  /// The random source of an operator whose first stream is `first`; it uses the operator's own
  /// seed if there is one.
  random_source random(std::uint64_t first, std::uint64_t own_seed, bool has_own) const {
    return {own_seed, later_stream(first, run.iteration), has_own ? nullptr : run.seed};
  }
  /// Sets the rows of a domain. This moves the arrays of the domain: get the operands again.
  void set_rows(int domain, int rows) const {
    if (run.allocator != nullptr && domain > 0)
      run.allocator->set_rows(run.allocator->machine, domain, rows);
  }
  /// Whether the rows of a domain have been set in this iteration.
  bool knows_rows(int domain) const { return run.allocator->knows(run.allocator->machine, domain); }
  /// Whether the output is a view: the kernel sets its address by show().
  bool shows() const { return run.view > 0; }
  void show(void* data) const { run.allocator->show(run.allocator->machine, run.view - 1, data); }
  /// Whether X keeps its memory as long as an operator may read the variable that it is assigned
  /// to.
  bool refers() const { return run.view < 0; }

  /// Arrays by slot, and the lines of one of them.
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

/// The kernel of an operator that is not fused: specialise it with
///   static void prepare(const call_context&, call_arguments&);  on the host: arrays and numbers
///   template <class Team>
///   LAMINA_FN static void line(const call_arguments&, int line, const Team&);
/// and, if numbers may be out of range, `static constexpr checked_input checked`; or with its own
/// bodies:
///   template <class Backend> static void launch(Backend&, const call_context&);
///   static constexpr bool launches = true;
/// and, if it needs scratch memory, the number of its floats: static std::ptrdiff_t scratch(const
/// call_context&). An operator that the host may compute has `template <class Backend> static void
/// here(Backend&, const call_context&)`, in addition or alone: its arguments are then host
/// addresses.
template <class Op>
struct call_kernel;

}  // namespace lamina::inline LAMINA_ABI::engine::cuda
