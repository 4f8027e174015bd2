// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/block/lowering.hpp - lowers a loop or a branch to one instruction for
// the whole block.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/control/block/definition.hpp>
#include <lamina/plan/lowering/deferred_products.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace lowering {

/// Returns the number of the first instruction that belongs to block `inner` or to a block nested
/// in `inner`; the number of all instructions if there is none.
constexpr int first_inside(const lowering_state& s, int inner) {
  const int count = s.instructions.count;
  for (int i = 0; i < count; ++i)
    if (const int of = s.instructions.items[i].block;
        of >= inner && is_inside(s.program, of, inner))
      return i;
  return count;
}

/// Lowers an operator that runs a block to one instruction. The operands of the instruction are the
/// condition, and the variables of outer blocks that the instructions of the block or of nested
/// blocks read. The results are the variables of outer blocks that these instructions write.
constexpr void lower_block(lowering_state& s, const operator_desc& op, int k) {
  const program_desc& p = s.program;
  const int inner = sub_block_of(p, op);
  const auto& of = s.variables.items;
  const auto& steps = s.instructions.items;
  const auto& operands_of = s.operands.items;
  const auto& results_of = s.results.items;
  const int made = s.variables.count, count = s.instructions.count;
  bool read[lowered_limits.variables], written[lowered_limits.variables];
  for (int v = 0; v < made; ++v) read[v] = written[v] = false;
  instruction i = begin(s, fusion_anchor::call, *op.schema, 0, k);
  i.runs = inner;
  const int condition = condition_of(p, op);
  if (condition >= 0) read[root(s, condition)] = true, use(s, condition, access::load);
  for (int at = first_inside(s, inner); at < count; ++at) {
    const instruction from = steps[at];
    const int here = from.block;
    if (here != inner && !is_inside(p, here, inner)) continue;
    for (int a = from.inputs, last = a + from.input_count; a < last; ++a) {
      const int id = operands_of[a].id;
      if (id < 0) continue;
      const int v = of[id].root;
      if (of[v].block == here || read[v] || is_inside(p, of[v].block, inner)) continue;
      read[v] = true;
      use(s, v, access::load);
    }
    for (int r = from.outputs, last = r + from.output_count; r < last; ++r) {
      const int id = results_of[r];
      if (id < 0) continue;
      const int v = of[id].root;
      if (of[v].block == here || written[v] || is_inside(p, of[v].block, inner)) continue;
      written[v] = true;
      result(s, v);
    }
  }
  // Earlier copies of the variables that the block changes no longer have their values.
  for (int r = i.outputs; r < s.results.count; ++r)
    if (s.results.items[r] < p.count.variables) s.copy_of[s.results.items[r]] = -1;
  end(s, i);
  finish_products(s, k);
}

}}}  // namespace lamina::lowering
