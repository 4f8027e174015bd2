// SPDX-License-Identifier: Apache-2.0
// lamina/plan/plan_view.hpp - a plan in the form that run-time code reads.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/plan/plan.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// A plan for run-time code, such as reports: pointers to tables that are only as long as this plan
/// needs. The tables of `plan` itself have capacity for the largest program, so an object file that
/// contained them would grow by megabytes per program.
struct plan_view {
  program_view program;
  int groups, kernels;
  const group_desc* group;          // by group; `first` and `count` are a range of `instructions`
  const int* kernel_of;             // by group: the number of its kernel
  const group_code* code;           // by group; its `arguments` is an index into `arguments`
  const instruction* instructions;  // the instructions of a group are adjacent
  const int* arguments;             // plan variables, constants (below -1) or -1 (empty)
  const int* operands;              // by operand, with the same meaning as in `arguments`
  const int* results;               // by result: its plan variable, or -1
  const plan_variable* variables;
  const bool* stored;          // by plan variable: whether memory holds it
  const memory_slot* slot_of;  // by plan variable
  long long planned_bytes, unshared_bytes;
};

namespace detail {

template <class T, int Count>
struct exact_table {
  T of[bound(Count)];
};

/// The tables of a plan in arrays of exact size.
template <program_type P>
struct frozen_plan {
  using source = plan<P>;
  static constexpr int instruction_count = source::lowered.count.instructions;

  static constexpr auto instructions = [] {
    exact_table<instruction, instruction_count> to{};
    for (int i = 0; i < instruction_count; ++i)
      to.of[i] = source::lowered.instructions[source::grouped.order[i]];
    return to;
  }();
  static constexpr auto operands = [] {
    constexpr int count = source::lowered.count.operands;
    exact_table<int, count> to{};
    for (int i = 0; i < count; ++i) to.of[i] = source::lowered.operands[i].id;
    return to;
  }();
  template <class T, int Count, class From>
  static constexpr exact_table<T, Count> first_of(const From& from) {
    exact_table<T, Count> to{};
    for (int i = 0; i < Count; ++i) to.of[i] = from[i];
    return to;
  }
  static constexpr auto results =
      first_of<int, source::lowered.count.results>(source::lowered.results);
  static constexpr auto variables =
      first_of<plan_variable, source::lowered.count.variables>(source::lowered.variables);
  static constexpr auto arguments =
      first_of<int, source::code.count.arguments>(source::code.arguments);
  static constexpr auto code = first_of<group_code, source::groups>(source::code.groups);

  static constexpr plan_view view() {
    return {P::view(),
            source::groups,
            source::kernels,
            source::grouped.groups,
            source::distinct.kernel,
            code.of,
            instructions.of,
            arguments.of,
            operands.of,
            results.of,
            variables.of,
            source::grouped.stored,
            source::memory.slot_of,
            source::planned_bytes,
            source::unshared_bytes};
  }
};

}  // namespace detail

/// The plan of a program, for run-time code.
template <program_type P>
constexpr plan_view view_of_plan() {
  return detail::frozen_plan<P>::view();
}

}}  // namespace lamina
