// SPDX-License-Identifier: Apache-2.0
// lamina/program/variable_scopes.hpp - finds variables that are used where they have no value.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/rows.hpp>
#include <lamina/program/block.hpp>
#include <lamina/program/program_builder.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Records a mistake if an operator reads a variable outside of the variable's block, or if the
/// record function returns such a variable. The checks of handles, which also report the line, do
/// not find all such mistakes.
constexpr void require_scopes(program_builder& b) {
  int wrong = -1;
  for (int k = 0; k < b.operators.count && wrong < 0; ++k) {
    const operator_desc op = b.operators.items[k];
    // Gradient operators may read such variables: the loop has kept their values.
    if (op.role != op_role::forward) continue;
    const bool lists = op.schema->has_lists;
    for (int s = 0, at = op.inputs; at < op.outputs; ++s) {
      const int n = lists && op.schema->inputs[s].duplicable ? b.arguments.items[at++] : 1;
      for (int i = 0; i < n; ++i, ++at)
        if (const int v = b.arguments.items[at]; v >= 0)
          if (const int of = b.variables.items[v].block;
              of != op.block && of != 0 && !is_inside(b, op.block, of))
            wrong = v;
    }
  }
  for (int i = 0; i < b.outputs.count; ++i)
    if (b.variables[b.outputs[i]].block != 0) wrong = b.outputs[i];
  if (wrong < 0) return;
  report_out_of_block(b, wrong, 0);
}

/// Records a mistake if a variable with the rows of a mini-batch is used after the next mini-batch
/// was read: data layers and numbers of rows then belong to the next mini-batch. The gradient of a
/// loop may use such a variable, because the loop keeps its values.
constexpr void require_minibatches(program_builder& b) {
  const auto reads = [&](int k) { return b.operators.items[k].schema->facts.reads_minibatch; };
  int first = 0;
  while (first < b.operators.count && !reads(first)) ++first;
  if (first == b.operators.count) return;
  bool fed[program_limits.domains];
  for (int d = 0; d < b.domains.count; ++d) fed[d] = d == batch::domain;
  for (int i = 0; i < b.data.count; ++i)
    for (int d = b.variables[b.data[i]].rows; d > once::domain; d = b.domains[d].parent)
      fed[d] = true;
  const auto is_kept = [&](int block) {
    for (; block > 0; block = b.blocks[block].parent)
      if (b.blocks[block].forward_block >= 0) return true;
    return false;
  };
  // By variable: the number of mini-batches read before its first use.
  int* const seen = new int[static_cast<unsigned>(b.variables.count) + 1];
  for (int v = 0; v < b.variables.count; ++v) seen[v] = -1;
  for (int k = 0, read = 0; k < b.operators.count; ++k) {
    const operator_desc op = b.operators.items[k];
    if (op.schema->kind == operator_kind::source || sub_block_of(b, op) >= 0) continue;
    const bool kept = is_kept(op.block);
    if (reads(k)) ++read;
    const bool lists = op.schema->has_lists;
    for (int side = 0, at = op.inputs; side < 2; ++side)
      for (int s = 0, end = side == 0 ? op.outputs : op.end; at < end; ++s) {
        const slot_desc* const slot_list = side == 0 ? op.schema->inputs : op.schema->outputs;
        for (int n = lists && slot_list[s].duplicable ? b.arguments.items[at++] : 1; n > 0; --n) {
          const int v = b.arguments.items[at++];
          if (v < 0 || b.variables.items[v].kind == variable_kind::tensor_array) continue;
          const variable_desc& d = b.variables.items[v];
          if (d.rows <= once::domain || !fed[d.rows]) continue;
          // A data layer outside of the loop is not kept per iteration: each mini-batch overwrites
          // the data.
          const bool outside = d.kind == variable_kind::data && d.block == 0;
          if (outside != kept) continue;
          if (!kept && seen[v] < 0) seen[v] = read;
          if (kept || seen[v] != read) report_variable(b, fault_kind::minibatch_over, v, 0);
        }
      }
  }
  delete[] seen;
}

}}}  // namespace lamina::detail
