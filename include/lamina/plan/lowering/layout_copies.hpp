// SPDX-License-Identifier: Apache-2.0
// lamina/plan/lowering/layout_copies.hpp - copies a variable into the layout that an instruction
// reads: rows padded to whole vectors, or panels.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/plan/lowering/append.hpp>
#include <lamina/plan/plan_operators.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace lowering {

/// Returns a copy of a variable in another layout, which is made when it is first needed and then
/// reused. The copy is made in the variable's own block, so that a loop does not repeat it in each
/// iteration. But if the variable changes during a run, the copy is made in the current block.
constexpr int copied(lowering_state& s, const operator_schema& how, int v, bool panel, int op) {
  if (v < s.program.count.variables && s.copy_of[v] >= 0 && is_known(s, s.copy_of[v], v))
    return s.copy_of[v];
  const plan_variable d = s.variables.items[v];
  const int here = s.block;
  if (!changes(s, v)) s.block = s.variables.items[d.root].block;
  const int made = temporary(s, d.rows, d.columns, panel, -1);
  s.variables.items[made].type = d.type;
  instruction i = begin(s, fusion_anchor::call, how, 0, op);
  use(s, v, access::load);
  result(s, made);
  end(s, i);
  s.block = here;
  if (v < s.program.count.variables) s.copy_of[v] = made;
  return made;
}

/// Whether variable v is in panels that differ from rows. The panels of a single row are the row.
constexpr bool is_paneled(const lowering_state& s, int v) {
  return s.variables.items[v].panel && s.variables.items[v].rows != 1;
}
/// Returns the variable, or a copy, in row-major order. If it is a feed, its rows may be unpadded.
constexpr int in_rows(lowering_state& s, int v, int op) {
  if (is_paneled(s, v)) return copied(s, schema_of<operators::unpack_panels>(), v, false, op);
  return v;
}
/// Returns the variable, or a copy, with padded rows. Feeds are copied, because kernels that read
/// whole vectors need the padding.
constexpr int padded_rows(lowering_state& s, int v, int op) {
  return is_feed(s, root(s, v)) ? copied(s, schema_of<operators::stage_feed>(), v, false, op)
                                : in_rows(s, v, op);
}
constexpr int in_panels(lowering_state& s, int v, int op) {
  const plan_variable& d = s.variables.items[v];
  return d.panel || (d.rows == 1 && !is_feed(s, d.root))
             ? v
             : copied(s, schema_of<operators::pack_panels>(), v, true, op);
}
constexpr int in_layout(lowering_state& s, int v, bool panel, int op) {
  return panel ? in_panels(s, v, op) : in_rows(s, v, op);
}

/// Whether variable v is a weight of an outer block that does not change during a run, so that all
/// iterations of the current block read the same value.
constexpr bool is_of_outer_block(const lowering_state& s, int v) {
  return v < s.program.count.variables && is_weight(s.program.variables[v]) && !changes(s, v) &&
         s.variables.items[v].block != s.block;
}
/// Returns the transpose, in panels, of a weight of an outer block. The transpose is computed once,
/// in the block of the weight.
constexpr int transposed_panels_of(lowering_state& s, int v, int op) {
  if (s.transposed[v] >= 0) return s.transposed[v];
  const int here = s.block;
  s.block = s.variables.items[v].block;
  const int made = temporary(s, s.variables.items[v].columns, s.variables.items[v].rows, true, -1);
  instruction i = begin(s, fusion_anchor::call, schema_of<operators::transposed_panels>(), 0, op);
  use(s, v, access::load);
  result(s, made);
  end(s, i);
  s.block = here;
  return s.transposed[v] = made;
}

}}}  // namespace lamina::lowering
