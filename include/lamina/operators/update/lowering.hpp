// SPDX-License-Identifier: Apache-2.0
// lamina/operators/update/lowering.hpp - lowers optimizer updates of parameters.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/compile_time/same_address.hpp>
#include <lamina/plan/lowering/layout_copies.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace lowering {

/// Adds the values of an update's attributes (learning rate, limits of clipping, decay, ...) to the
/// constants of the plan. They have their recorded or default values until the training loop sets
/// them. The default values are copied from the previous update if it has the same operator,
/// because reading a schema takes much more compile time.
constexpr void add_numbers(lowering_state& s, const operator_desc& op) {
  auto& constants = s.constants;
  const int numbers = op.schema->attribute_count, first = constants.count;
  if (op.attributes >= 0) {
    for (int a = 0; a < numbers; ++a)
      constants.items[constants.count++] = s.program.attributes[op.attributes + a].number;
    return;
  }
  if (!same_address(s.with_defaults, op.schema)) {
    s.with_defaults = op.schema;
    s.defaults = first;
    const attribute_desc* const described = op.schema->attributes;
    for (int a = 0; a < numbers; ++a) constants.items[constants.count++] = described[a].number;
    return;
  }
  for (int a = 0; a < numbers; ++a) constants.items[first + a] = constants.items[s.defaults + a];
  constants.count = first + numbers;
}

/// Returns the index of the first argument that holds a value computed by another operator, such as
/// the learning rate. These arguments follow the parameter, the gradient and the accumulators.
constexpr int first_number(const operator_desc& op) {
  return op.inputs + op.schema->output_count + 1;
}
/// Appends the instruction that collects the attributes' values of update k in one array, if other
/// operators compute some of them. Returns the array.
constexpr int numbers_of(lowering_state& s, const operator_desc& op, int k) {
  for (int i = 0; i < s.numbers.count; ++i)
    if (s.numbers[i].update == k) return s.numbers[i].made;
  const int made = temporary(s, 1, op.schema->attribute_count, false, -1);
  const int first = first_number(op);
  emit_call(s, schema_of<operators::update_numbers>(), {argument(s, first), argument(s, first + 1)},
            {made}, k);
  return made;
}
/// Must be called after operator k, which computes a learning rate, has been lowered. For each
/// update that reads this rate and no other computed value, emits the instruction of numbers_of()
/// at once. If operator k precedes the gradient, this instruction precedes it as well, so that the
/// update can be fused with the matrix product that computes the gradient.
constexpr void make_numbers_early(lowering_state& s, const operator_desc& from, int k) {
  for (int u = k + 1; u < s.program.count.operators; ++u) {
    const operator_desc op = s.program.operators[u];
    const int first = first_number(op);
    if (op.schema->kind == operator_kind::update && first < op.outputs &&
        argument(s, first) == argument(s, from.outputs) && argument(s, first + 1) < 0)
      s.numbers.push({u, numbers_of(s, op, u)});
  }
}

/// Lowers an optimizer update. The parameter and its accumulators are updated in place; the
/// operator's attributes are constants that the training loop sets before each step.
constexpr void lower_update(lowering_state& s, const operator_desc& op, int k) {
  // The operands are the parameter, the gradient and the accumulators, then variables with values
  // that other operators compute.
  const int outputs = op.schema->output_count, n = outputs + 1;
  const plan_variable of_param = s.variables.items[argument(s, op.inputs)];
  const bool panel = of_param.panel;
  const int given = n < op.schema->input_count ? numbers_of(s, op, k) : -1;
  int grad = argument(s, op.inputs + 1);
  if (s.program.variables[grad].kind != variable_kind::selected_rows &&
      s.variables.items[grad].panel != panel)
    grad = panel ? in_panels(s, grad, k) : in_rows(s, grad, k);
  // An update with norms reads the parameter twice, and an update by a sparse gradient changes only
  // some rows of the parameter. Both cannot be part of a fused group and have separate kernels.
  const fusion_anchor head =
      op.schema->knows_panels ? fusion_anchor::call : fusion_anchor::pointwise;
  instruction i = begin(s, head, *op.schema, 0, k);
  for (int a = 0; a < n; ++a) use(s, a == 1 ? grad : argument(s, op.inputs + a), access::load);
  use(s, given >= 0 ? given : constant_operand(s.constants.count), access::numbers);
  if (given < 0) add_numbers(s, op);
  for (int o = 0; o < outputs; ++o) result(s, argument(s, op.outputs + o));
  i.rows = of_param.rows;
  i.columns = of_param.columns;
  i.panel = panel;
  end(s, i);
}

}}}  // namespace lamina::lowering
