// SPDX-License-Identifier: Apache-2.0
// lamina/plan/call_program.hpp - the operators of a program that kernels read at run time.
//
// The kernel of a fused group reads only the group's arguments. The kernel of a single operator
// also reads the operator's attributes and argument counts. Therefore only operators that are not
// fused are put into the binary; even a deep network has few of them.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/compile_time/same_address.hpp>
#include <lamina/plan/copy_operator.hpp>
#include <lamina/plan/plan.hpp>
#include <lamina/plan/run_time_tables.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// Consecutive numbers of the operators whose kernels are called: of[k] is the number of operator
/// k, or -1.
template <int Operators>
struct call_numbers {
  int of[bound(Operators)];
};
/// Whether the kernel of `called`, which runs for operator `op` of the program, may read
/// attributes. This is so if `called` is the schema of `op`, or the schema of an operator that only
/// plans contain and that has attributes.
constexpr bool calls_operator(const operator_schema& called, const operator_desc& op) {
  return same_address(&called, op.schema) || called.attribute_count > 0;
}
template <program_type P>
constexpr auto number_calls() {
  constexpr const lowered_program& l = plan<P>::lowered;
  call_numbers<P::desc.count.operators> r{};
  for (int k = 0; k < P::desc.count.operators; ++k) r.of[k] = -1;
  for (int i = 0; i < l.count.instructions; ++i)
    if (asks_operator(l.instructions[i].head) && l.instructions[i].op >= 0 &&
        calls_operator(*l.instructions[i].schema, P::desc.operators[l.instructions[i].op]))
      r.of[l.instructions[i].op] = 0;
  for (int k = 0, n = 0; k < P::desc.count.operators; ++k)
    if (r.of[k] == 0) r.of[k] = n++;
  return r;
}

template <program_type P, const auto& Numbers>
constexpr program_desc collect_calls() {
  program_desc made = P::desc;
  made.count.operators = made.count.arguments = made.count.attributes = made.count.startup = 0;
  made.count.parameters = made.count.data = made.count.outputs = made.count.blocks = 0;
  made.count.variables = made.count.names = made.count.characters = 0;
  for (int k = 0; k < P::desc.count.operators; ++k)
    if (Numbers.of[k] >= 0)
      made.operators[made.count.operators++] = copy_operator(made, P::desc, P::desc.operators[k]);
  return made;
}

}  // namespace detail

/// The operators of program P whose kernels are called. All objects that run the program share it.
template <program_type P>
struct call_program {
  static constexpr auto numbers = detail::number_calls<P>();
  static constexpr program_desc collected = detail::collect_calls<P, numbers>();
  static constexpr auto desc = freeze<collected.count>(collected);
  /// The program that kernels get. The variables, names and texts are shared with run_time_program,
  /// because error messages name the layer and the variable of a call, and attributes may be texts.
  static constexpr program_view view = [] {
    program_view made = view_of(desc);
    constexpr const program_view& all = run_time_program<P>::view;
    made.variables = all.variables;
    made.names = all.names;
    made.characters = all.characters;
    made.count.variables = all.count.variables;
    made.count.names = all.count.names;
    made.count.characters = all.count.characters;
    return made;
  }();

  /// Returns the operator whose kernel an instruction calls; null if the instruction does not call
  /// a kernel.
  static constexpr const operator_desc* called_by(const instruction& i) {
    const bool called = asks_operator(i.head) && i.op >= 0 &&
                        detail::calls_operator(*i.schema, P::desc.operators[i.op]);
    return called ? &desc.operators[numbers.of[i.op]] : nullptr;
  }
};

}}  // namespace lamina
