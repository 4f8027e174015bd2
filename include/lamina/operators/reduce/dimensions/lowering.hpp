// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/dimensions/lowering.hpp - lowers the mean of all elements and its
// gradient.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/reduce/dimensions/definition.hpp>
#include <lamina/plan/lowering/append.hpp>
#include <lamina/plan/plan_operators.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace lowering {

/// Whether operator k is the mean that training minimises, and no operator reads its result; if so,
/// postpones operator k: it is lowered after all other operators. In its own place, it would stand
/// between a pointwise function and the gradient of this function, and prevent that the two form
/// one fused group.
constexpr bool hold_cost(lowering_state& s, const operator_desc& op, int k) {
  const program_desc& p = s.program;
  if (s.has_blocks || p.is_test || p.cost < 0 || argument(s, op.outputs) != p.cost) return false;
  const int x = root(s, argument(s, op.inputs));
  if (x >= p.count.variables || p.variables[x].persistable ||
      p.variables[x].kind == variable_kind::parameter)
    return false;
  const auto& arguments = p.arguments;
  const int cost = p.cost, end = p.count.arguments;
  for (int at = op.end; at < end; ++at)
    if (arguments[at] == cost) return false;
  return s.held_cost = k, true;
}

/// Lowers the gradient of mean, and of reduce_mean over all dimensions, to a pointwise function.
constexpr bool lower_mean_grad(lowering_state& s, const operator_desc& op, int k) {
  // The gradient of reduce_mean has X as an additional first input.
  const bool reduces = is<gradient_of<operators::reduce_mean>>(op);
  if (reduces && attribute(s, op, 2) == 0) return false;
  const int dout = argument(s, op.inputs + (reduces ? 1 : 0)), dx = argument(s, op.outputs);
  if (dx < 0 || s.variables.items[dx].type != s.real) return false;
  const plan_variable d = s.variables.items[dx];
  instruction i = begin(s, fusion_anchor::pointwise, schema_of<operators::spread_mean>(), 0, k);
  use(s, dout, access::scalar);
  use(s,
      d.rows < 0 ? constant_operand(inverse_rows(domain_of_rows(d.rows)))
                 : constant(s, 1.0 / d.rows),
      access::scalar);
  use(s, constant(s, 1.0 / d.columns), access::scalar);
  result(s, dx);
  i.rows = d.rows;
  i.columns = d.columns;
  end(s, i);
  return true;
}

/// Lowers operator k if it is the mean that training minimises, or the gradient of a mean of all
/// elements. Otherwise returns false.
constexpr bool lower_mean(lowering_state& s, const operator_desc& op, int k) {
  if (is<operators::mean>(op)) return hold_cost(s, op, k);
  return (is<gradient_of<operators::mean>>(op) || is<gradient_of<operators::reduce_mean>>(op)) &&
         lower_mean_grad(s, op, k);
}

}}}  // namespace lamina::lowering
