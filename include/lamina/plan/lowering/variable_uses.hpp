// SPDX-License-Identifier: Apache-2.0
// lamina/plan/lowering/variable_uses.hpp - how the operators of a program with blocks write and
// read its variables.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/compile_time/same_address.hpp>
#include <lamina/operators/elementwise/sum/definition.hpp>
#include <lamina/program/program_builder.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// How each variable of a program with blocks is used. The arrays are not set for a program of one
/// block.
struct variable_uses {
  static constexpr int capacity = program_limits.variables;
  bool changed[capacity];  // several operators write it
  bool escapes[capacity];  // operators outside its block use it
  int summed[capacity];    // the sum, if the only use is an addition to a sum over iterations;
                           // otherwise -1: no use, -2: another use, or `deferred`

  /// A value of `summed`: the variable is not computed, because a product over many iterations
  /// computes the sum (plan/lowering/deferred_products.hpp).
  static constexpr int deferred = -3;
};

namespace lowering {

/// Handles an operator `sum`. If it adds gradients of one iteration to its own result, marks them
/// as addends of this sum, unless another operator has read them before.
constexpr void find_summed(const program_desc& p, const operator_desc& op, variable_uses& uses) {
  const int sum = p.arguments[op.outputs], count = p.count.variables;
  const bool adds = p.arguments[op.inputs + 1] == sum;
  for (int at = adds ? op.inputs + 2 : op.inputs; at < op.outputs; ++at)
    if (const int v = p.arguments[at]; v >= 0 && v < count)
      uses.summed[v] = adds && uses.summed[v] == -1 ? sum : -2;
}

/// Sets `uses` for all variables of a program with blocks. To be fast, it also reads the lengths of
/// lists among the arguments as if they were variables. A variable may therefore be marked as
/// escaping although it does not escape; this only prevents an optimisation.
constexpr void find_uses(const program_desc& p, variable_uses& uses) {
  bool written[variable_uses::capacity];
  const int count = p.count.variables, operators = p.count.operators;
  const operator_schema* const sums = &schema_of<operators::sum>();
  for (int v = 0; v < count; ++v)
    written[v] = uses.changed[v] = uses.escapes[v] = false, uses.summed[v] = -1;
  for (int k = 0; k < operators; ++k) {
    const operator_desc op = p.operators[k];
    const bool adds = same_address(op.schema, sums), inner = op.block > 0;
    if (adds && inner) find_summed(p, op, uses);
    for (int at = op.inputs; at < op.end; ++at) {
      const int v = p.arguments[at];
      if (v < 0 || v >= count) continue;
      if (inner && !adds && at < op.outputs) uses.summed[v] = -2;
      if (const int of = p.variables[v].block;
          of != op.block && of != 0 && !uses.escapes[v] && !is_inside(p, op.block, of))
        uses.escapes[v] = true;
    }
    if (op.attributes >= 0 && sub_block_of(p, op) >= 0) continue;
    // A parameter that is trained inside a loop changes in each iteration. Operators of role
    // `optimize` other than updates overwrite a variable that had another value before.
    const bool trains =
        op.role == op_role::optimize && (inner || op.schema->kind != operator_kind::update);
    if (op.end == op.outputs + 1) {
      if (const int v = p.arguments[op.outputs]; v >= 0)
        uses.changed[v] = trains || written[v], written[v] = true;
      continue;
    }
    for (int s = 0, at = op.outputs; s < op.schema->output_count; ++s)
      for (int n = op.schema->outputs[s].duplicable ? p.arguments[at++] : 1; n > 0; --n, ++at)
        if (const int v = p.arguments[at]; v >= 0)
          uses.changed[v] = trains || written[v], written[v] = true;
  }
}

}  // namespace lowering

}}  // namespace lamina
