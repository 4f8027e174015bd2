// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/call_site.hpp - a call of the schedule on the host: its arrays and attributes.
#pragma once

#include <cstddef>
#include <cstdint>

#include <lamina/engine/call/array_layout.hpp>
#include <lamina/engine/cuda/call_arguments.hpp>

namespace lamina::engine::cuda {

/// What a checked number chooses: an element of a line of input 0, a row of it, or one of as many
/// as attribute 0 says.
enum class chosen : std::uint8_t { element, row, attribute };

/// An input whose numbers a kernel checks: its slot, and what a message calls one.
struct checked_input {
  int slot = -1;
  const char* what = "";
  chosen from = chosen::element;
};

/// What a schedule knows of a group.
struct group_info {
  int variable;  // one that it writes, for messages; -1
  int rows, columns, depth;
  const operator_schema* schema;  // of a call
  const operator_desc* op;        // whose attributes count; null for the plan's own copies
};

/// What changes from run to run.
struct run_state {
  const int* rows;                // by domain
  const int* const* offsets;      // by domain: where sequences begin, in the memory of the place
  const std::int64_t* first_row;  // by domain
  const std::uint64_t* seed;      // in the memory of the place: of the run + step
  fault_word* fault;
  float* scratch;  // of the group that runs, in the memory of the place

  int rows_of(int known) const { return operator_call::rows_of(rows, known); }
};

/// An operand as kernels are given it.
inline argument_view view_of_operand(const operand& o) {
  const int inner = o.domain != 0 ? 1 : 0;  // the first dimension that is none of rows
  return {o.data,   o.rows, o.columns, o.rank > inner ? o.dims[o.rank - 1] : o.columns,
          o.stride, o.type};
}

/// The sequences of one domain, as kernels are given them.
struct sequence_view {
  const int* offsets;
  int count;

  LAMINA_FN int begin(int i) const { return offsets[i]; }
  LAMINA_FN int end(int i) const { return offsets[i + 1]; }
};

/// A group of the schedule about to run.
struct call_site : operator_call {
  const group_info& group;
  const run_state& run;
  int number_of_group;
  float* const* arguments;

  call_site(const program_view& program, float* const* all, const argument_info* info,
            const group_info& g, const run_state& state, int number)
      : operator_call(program, all, info, g.schema, g.op, state.rows),
        group(g),
        run(state),
        number_of_group(number),
        arguments(all) {}

  /// Slots are numbered as the schema numbers them; each holds one variable.
  argument_view in(int slot) const { return view_of_operand(input(slot)); }
  argument_view out(int slot) const { return view_of_operand(output(slot)); }

  /// The sequences that the rows of a domain belong to: one for each row of its parent.
  sequence_view sequences(int domain) const {
    return {run.offsets[domain], rows_in(parent_of(domain))};
  }

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
};

/// The kernel of an operator that is not fused: specialise it with
///   static void prepare(const call_site&, call_arguments&);      on the host: arrays and numbers
///   template <class Team>
///   LAMINA_FN static void line(const call_arguments&, int line, const Team&);
/// and, where numbers may be out of range, `static constexpr checked_input checked`; or with bodies
/// of its own:
///   template <class Backend> static void launch(Backend&, const call_site&);
///   static constexpr bool launches = true;
/// and, when it needs memory, the floats for it: static std::ptrdiff_t scratch(const call_site&).
template <class Op>
struct call_kernel;

}  // namespace lamina::engine::cuda
