// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/assign/lowering.hpp - lowers assignments, in particular assignments
// that give the variables of a loop their values for the next iteration.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/elementwise/assign/definition.hpp>
#include <lamina/plan/lowering/layout_copies.hpp>
#include <lamina/plan/plan_operators.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace lowering {

/// Lowers the assignment of the next value of a counter or condition at the end of an iteration. If
/// no operator reads the previous value after the next one is computed, the next value is computed
/// in place, and the assignment needs no copy. Returns false if a copy is needed.
constexpr bool assign_in_place(lowering_state& s, const operator_desc& op) {
  const int from = argument(s, op.inputs), to = argument(s, op.outputs);
  const plan_variable& f = s.variables.items[from];
  const plan_variable& t = s.variables.items[to];
  if (from >= s.program.count.variables || is_real(f.type) || f.type != t.type ||
      f.rows != t.rows || f.columns != t.columns || f.block != s.block || t.block == s.block ||
      f.root != from || changes(s, from) || s.uses.escapes[from])
    return false;
  for (int i = s.instructions.count; i-- > 0;) {
    const instruction& before = s.instructions.items[i];
    for (int r = before.outputs; r < before.outputs + before.output_count; ++r)
      if (s.results.items[r] == from) {
        if (before.block != s.block || before.schema->kind != operator_kind::pointwise)
          return false;
        s.variables.items[from].root = root(s, to);
        return true;
      }
    for (int a = before.inputs; a < before.inputs + before.input_count; ++a)
      if (const int v = s.operands.items[a].id; v >= 0 && root(s, v) == root(s, to)) return false;
  }
  return false;
}

/// Lowers an assignment to a variable whose number of rows may change in an iteration: a kernel
/// call copies the value and sets the rows of the variable's domain. Returns false if the two
/// variables have the same rows.
constexpr bool assign_with_rows(lowering_state& s, const operator_desc& op, int k) {
  const int from = argument(s, op.inputs), to = argument(s, op.outputs);
  if (s.variables.items[from].rows == s.variables.items[to].rows) return false;
  emit_call(s, schema_of<operators::rows_hand_over>(), {from}, {to}, k);
  return true;
}

/// Lowers operator k if it is an assignment in a program with loops or branches that needs no copy
/// or that sets rows. Returns false for other operators.
constexpr bool lower_assign(lowering_state& s, const operator_desc& op, int k) {
  return s.has_blocks && is<operators::assign>(op) &&
         (assign_in_place(s, op) || assign_with_rows(s, op, k));
}

/// Lowers operator k if it is an assign_variable: a copy in the layout of the variable. Earlier
/// copies of the variable in other layouts then no longer have its value.
constexpr bool lower_store(lowering_state& s, const operator_desc& op, int k) {
  if (!is<operators::assign_variable>(op)) return false;
  const int from = argument(s, op.inputs), to = argument(s, op.outputs);
  if (from == to) return true;
  const bool panel = s.variables.items[to].panel;
  emit_call(s, panel ? schema_of<operators::pack_panels>() : schema_of<operators::stage_feed>(),
            {in_rows(s, from, k)}, {to}, k);
  s.copy_of[to] = -1;
  return true;
}

}}}  // namespace lamina::lowering
