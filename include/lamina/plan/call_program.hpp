// SPDX-License-Identifier: Apache-2.0
// lamina/plan/call_program.hpp - the part of a program that the kernels of operators read while it
// runs.
//
// Fused groups need nothing but their arguments. Only operators with a kernel of their own read
// attributes and argument counts, so only these operators are put into the binary. A deep network
// has few of them.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/same_address.hpp>
#include <lamina/operators/control/block/definition.hpp>
#include <lamina/plan/copy_operator.hpp>
#include <lamina/plan/plan.hpp>

namespace lamina::inline LAMINA_ABI {

namespace detail {

/// By operator: its position among the operators whose kernels are called, or -1.
template <int Operators>
struct call_numbers {
  int of[bound(Operators)];
};
/// Whether a kernel that is called for `op` may read attributes. It may if it is the kernel of the
/// operator itself, or of an operator of the plan that has attributes.
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

/// The variables and names whose text may be needed while a program runs. An operator with a side
/// effect may print the names of its arguments, and the error message of a loop names its
/// condition. A name consists of earlier variables and names, and conditions precede their loops,
/// so only the first part of a long program is kept.
struct spelled_names {
  int variables, names;
  constexpr void spell(const program_desc& p, int variable) {
    if (variable >= p.count.variables) return;  // an argument that is a count, not a variable
    for (int v = variable; v >= 0; v = p.variables[v].of) {
      if (variables <= v) variables = v + 1;
      if (names <= p.variables[v].base) names = p.variables[v].base + 1;
    }
  }
};

template <program_type P, const auto& Numbers>
constexpr program_desc collect_calls() {
  program_desc made = P::desc;
  made.count.operators = made.count.arguments = made.count.attributes = made.count.startup = 0;
  made.count.parameters = made.count.data = made.count.outputs = made.count.blocks = 0;
  spelled_names spelled{};
  for (int k = 0; k < P::desc.count.operators; ++k) {
    if (Numbers.of[k] < 0) continue;
    const operator_desc op = P::desc.operators[k];
    made.operators[made.count.operators++] = copy_operator(made, P::desc, op);
    if (op.schema->facts.block == block_rule::loop)
      spelled.spell(P::desc, condition_of(P::desc, op));
    else if (op.schema->has_side_effect && op.schema->facts.block != block_rule::branch)
      for (int a = op.inputs; a < op.end; ++a) spelled.spell(P::desc, P::desc.arguments[a]);
  }
  made.count.variables = spelled.variables;
  made.count.names = spelled.names;
  return made;
}

}  // namespace detail

/// The operators of a program whose kernels are called, for the machines that run it.
template <program_type P>
struct call_program {
  static constexpr auto numbers = detail::number_calls<P>();
  static constexpr program_desc collected = detail::collect_calls<P, numbers>();
  static constexpr auto desc = freeze<collected.count>(collected);
  static constexpr program_view view = view_of(desc);

  /// The operator whose kernel an instruction calls; null if the instruction calls none.
  static constexpr const operator_desc* called_by(const instruction& i) {
    const bool called = asks_operator(i.head) && i.op >= 0 &&
                        detail::calls_operator(*i.schema, P::desc.operators[i.op]);
    return called ? &desc.operators[numbers.of[i.op]] : nullptr;
  }
};

}  // namespace lamina::inline LAMINA_ABI
