// SPDX-License-Identifier: Apache-2.0
// lamina/operators/update/lowering.hpp - what an optimizer's update of a parameter is lowered to.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/constexpr_vector.hpp>
#include <lamina/core/same_address.hpp>
#include <lamina/operators/control/block/lowering.hpp>

namespace lamina::inline LAMINA_ABI {

/// Lowers updates, and the numbers that operators compute for them.
struct update_lowering : block_lowering {
  using block_lowering::block_lowering;

 protected:
  /// Fluid's update: the parameter and its accumulators are read and written in place; the
  /// operator's attributes are constants that the training loop sets before each step.
  constexpr void lower_update(const operator_desc& op, int k) {
    // Parameter, gradient, accumulators; the operands after them hold some of the numbers.
    const int outputs = op.schema->output_count, n = outputs + 1;
    const int param = argument(op.inputs);
    const plan_variable of_param = variables.items[param];
    const bool panel = of_param.panel;
    const int given = n < op.schema->input_count ? numbers_of(op, k) : -1;
    int grad = argument(op.inputs + 1);
    if (p.variables[grad].kind != variable_kind::selected_rows &&
        variables.items[grad].panel != panel)
      grad = panel ? in_panels(grad, k) : in_rows(grad, k);
    // An update that needs norms goes over the parameter twice, and an update of selected rows goes
    // over a part of it: both have separate kernels.
    const group_head head = op.schema->knows_panels ? group_head::call : group_head::pointwise;
    instruction i = begin(head, *op.schema, 0, k);
    for (int s = 0; s < n; ++s) use(s == 1 ? grad : argument(op.inputs + s), access::load);
    use(given >= 0 ? given : constant_operand(constants.count), access::numbers);
    if (given < 0) add_numbers(op);
    for (int s = 0; s < outputs; ++s) result(argument(op.outputs + s));
    i.rows = of_param.rows;
    i.columns = of_param.columns;
    i.panel = panel;
    end(i);
  }

  /// After operator k, which is a part of an optimizer's step: the numbers of the updates whose
  /// learning rate it computes and for which no other operator computes anything.
  constexpr void tell_numbers(const operator_desc& from, int k) {
    for (int u = k + 1; u < p.count.operators; ++u) {
      const operator_desc op = p.operators[u];
      const int first = op.inputs + op.schema->output_count + 1;
      if (op.schema->kind == operator_kind::update && first < op.outputs &&
          argument(first) == argument(from.outputs) && argument(first + 1) < 0)
        told.push({u, numbers_of(op, u)});
    }
  }

 private:
  /// The training loop sets the numbers of an update; until then they have their recorded or
  /// default values. The defaults are mostly those of the previous update: reading a known array
  /// takes a fraction of the time that reading a schema takes.
  constexpr void add_numbers(const operator_desc& op) {
    const int numbers = op.schema->attribute_count, first = constants.count;
    if (op.attributes >= 0) {
      for (int a = 0; a < numbers; ++a)
        constants.items[constants.count++] = p.attributes[op.attributes + a].number;
      return;
    }
    if (!same_address(with_defaults, op.schema)) {
      with_defaults = op.schema;
      defaults = first;
      const attribute_desc* const described = op.schema->attributes;
      for (int a = 0; a < numbers; ++a) constants.items[constants.count++] = described[a].number;
      return;
    }
    for (int a = 0; a < numbers; ++a) constants.items[first + a] = constants.items[defaults + a];
    constants.count = first + numbers;
  }
  const operator_schema* with_defaults = nullptr;  // the last update with its schema's defaults ...
  int defaults = 0;                                // ... and their index among the constants

  /// The numbers of an update that other operators compute. If those operators come before the
  /// gradient, so do these numbers: the update can then be the epilogue of the gradient's product.
  constexpr int numbers_of(const operator_desc& op, int k) {
    for (int i = 0; i < told.count; ++i)
      if (told[i].update == k) return told[i].made;
    const int made = temporary(1, op.schema->attribute_count, false, -1);
    const int first = op.inputs + op.schema->output_count + 1;
    emit_call(schema_of<update_numbers>(), {argument(first), argument(first + 1)}, {made}, k);
    return made;
  }

  struct told_numbers {
    int update, made;
  };
  constexpr_vector<told_numbers> told;
};

}  // namespace lamina::inline LAMINA_ABI
