// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/rank_table/lowering.hpp - omits the gradient of shrink_rnn_memory where
// its result can share the memory of its operand.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/control/array/definition.hpp>
#include <lamina/operators/control/rank_table/definition.hpp>
#include <lamina/plan/lowering/lowering_state.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace lowering {

/// shrink_rnn_memory selects the first rows of X. X@GRAD is therefore Out@GRAD, followed by rows of
/// zeros. If the next operator only adds X@GRAD to a slot of an array, the rows of zeros are not
/// needed, because missing rows count as zeros there. In this case X@GRAD gets the memory of
/// Out@GRAD, operator k needs no instruction, and the function returns true.
constexpr bool share_shrunk_rows(lowering_state& s, const operator_desc& op, int k) {
  const program_desc& p = s.program;
  if (s.block == 0 || !is<gradient_of<operators::shrink_rnn_memory>>(op) ||
      k + 1 >= p.count.operators)
    return false;
  const operator_desc& next = p.operators[k + 1];
  const int d = argument(s, op.inputs + 1), dx = argument(s, op.outputs);
  if (dx < 0 || !is<operators::read_from_array_gradient>(next) || next.block != op.block ||
      argument(s, next.inputs + 1) != dx || changes(s, dx) || s.variables.items[root(s, d)].panel ||
      p.domains[domain_of_rows(s.variables.items[dx].rows)].kind != domain_kind::step)
    return false;
  s.variables.items[dx].root = root(s, d);
  return true;
}

}}}  // namespace lamina::lowering
