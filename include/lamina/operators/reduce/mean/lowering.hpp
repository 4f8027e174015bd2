// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/mean/lowering.hpp - what the mean of all elements, and its gradient, are
// lowered to.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/reduce/dimensions/definition.hpp>
#include <lamina/operators/reduce/mean/definition.hpp>
#include <lamina/operators/update/lowering.hpp>

namespace lamina::inline LAMINA_ABI {

/// Lowers the mean that a program's cost is.
struct mean_lowering : update_lowering {
  using update_lowering::update_lowering;

 protected:
  /// Whether operator k is the mean that training minimises, and no operator reads its result; its
  /// own gradient does not. Such a mean is lowered after everything else: otherwise it would
  /// separate a pointwise function from its gradient, and these two may form one group.
  constexpr bool hold_cost(const operator_desc& op, int k) {
    if (many || p.is_test || p.cost < 0 || argument(op.outputs) != p.cost) return false;
    const int x = root(argument(op.inputs));
    if (x >= p.count.variables || p.variables[x].persistable ||
        p.variables[x].kind == variable_kind::parameter)
      return false;
    const auto& arguments = p.arguments;
    const int cost = p.cost, end = p.count.arguments;
    for (int at = op.end; at < end; ++at)
      if (arguments[at] == cost) return false;
    return held_cost = k, true;
  }

  constexpr bool lower_mean_grad(const operator_desc& op, int k) {
    // reduce_mean's gradient reads X too.
    const bool reduces = is<gradient_of<reduce_mean>>(op);
    if (reduces && attribute(op, 2) == 0) return false;
    const int dout = argument(op.inputs + (reduces ? 1 : 0)), dx = argument(op.outputs);
    if (dx < 0 || variables.items[dx].type != real) return false;
    const plan_variable d = variables.items[dx];
    instruction i = begin(group_head::pointwise, schema_of<spread_mean>(), 0, k);
    use(dout, access::scalar);
    use(d.rows < 0 ? constant_operand(inverse_rows(domain_of_rows(d.rows)))
                   : constant(1.0 / d.rows),
        access::scalar);
    use(constant(1.0 / d.columns), access::scalar);
    result(dx);
    i.rows = d.rows;
    i.columns = d.columns;
    end(i);
    return true;
  }

  int held_cost = -1;  // the operator that is lowered last, or -1
};

}  // namespace lamina::inline LAMINA_ABI
