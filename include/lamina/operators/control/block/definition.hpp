// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/block/definition.hpp - operators that run a block: while,
// conditional_block. Their first attribute must be the number of that block, because sub_block_of()
// reads it there.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Runs sub_block repeatedly as long as Condition, a single bool, is true. X lists all variables of
/// outer blocks that sub_block reads, and Out all variables of outer blocks that sub_block writes.
/// Variables of sub_block itself belong to one iteration; StepScopes keeps the variables that the
/// gradient reads. Fluid: while.
struct while_block : operator_definition {
  static constexpr const char* type = "while";
  static constexpr auto block = block_rule::loop;
  static constexpr std::array<slot_desc, 2> inputs{{{"X", true}, {"Condition"}}};
  static constexpr std::array<slot_desc, 2> outputs{{{"Out", true}, {"StepScopes"}}};
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"sub_block", attribute_type::block, -1}, {"is_test", attribute_type::boolean, 0}}};
  static constexpr bool has_side_effect = true;
};

/// Computes the gradients of a while. sub_block computes the gradients of one iteration and runs
/// once per iteration of the while, the last iteration first. X@GRAD lists the gradients that
/// sub_block adds to or overwrites. Fluid: while_grad.
struct while_block_gradient : operator_definition {
  static constexpr const char* type = "while_grad";
  static constexpr auto block = block_rule::loop_gradient;
  static constexpr std::array<slot_desc, 4> inputs{
      {{"X", true}, {"Out", true}, {"Out@GRAD", true}, {"StepScopes"}}};
  static constexpr std::array<slot_desc, 1> outputs{{{"X@GRAD", true, true}}};
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"sub_block", attribute_type::block, -1}}};
};

/// Runs sub_block if a condition holds; otherwise the variables of Out get no rows. If
/// is_scalar_condition is true, the condition is that Cond, a single bool, is true. If
/// is_scalar_condition is false, the condition is that Cond has at least one row. Fluid:
/// conditional_block.
struct conditional_block : operator_definition {
  static constexpr const char* type = "conditional_block";
  static constexpr auto block = block_rule::branch;
  static constexpr std::array<slot_desc, 2> inputs{{{"Cond", true}, {"Input", true}}};
  static constexpr std::array<slot_desc, 2> outputs{{{"Out", true}, {"Scope"}}};
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"sub_block", attribute_type::block, -1},
       {"is_scalar_condition", attribute_type::boolean, 0}}};
  static constexpr bool has_side_effect = true;
};

/// Computes the gradients of a conditional_block: runs sub_block, its gradient block, if the
/// conditional_block ran its own block. Input@GRAD lists the gradients that sub_block adds to or
/// overwrites; all of them are zero before sub_block runs. Fluid: conditional_block_grad.
struct conditional_block_gradient : operator_definition {
  static constexpr const char* type = "conditional_block_grad";
  static constexpr auto block = block_rule::branch_gradient;
  static constexpr std::array<slot_desc, 5> inputs{
      {{"Cond", true}, {"Input", true}, {"Out", true}, {"Out@GRAD", true}, {"Scope"}}};
  static constexpr std::array<slot_desc, 1> outputs{{{"Input@GRAD", true, true}}};
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"sub_block", attribute_type::block, -1},
       {"is_scalar_condition", attribute_type::boolean, 0}}};
};

using control_block_operators =
    operator_list<while_block, while_block_gradient, conditional_block, conditional_block_gradient>;

}}}  // namespace lamina::operators

namespace lamina { inline namespace LAMINA_ABI {

/// Returns the variable that decides whether an operator runs its block: a bool, or a variable that
/// must have rows. Returns -1 for while_grad, which has no condition: it runs its block as often as
/// the while ran.
template <class Program>
constexpr int condition_of(const Program& p, const operator_desc& op) {
  if (op.schema->facts.block == block_rule::loop_gradient) return -1;
  return p.arguments[op.schema->facts.block == block_rule::loop ? op.outputs - 1 : op.inputs + 1];
}

namespace detail {

/// Lists the variables of outer blocks that the operators of block `inside` read (`reads`) and
/// write (`writes`). `first` is the number of the first operator of the block. These variables
/// become the arguments of the operator that runs the block.
constexpr void outer_arguments(const program_builder& b, int inside, int first,
                               constexpr_vector<int>& reads, constexpr_vector<int>& writes) {
  const int variables = b.variables.count;
  bool* read = new bool[static_cast<unsigned>(variables)];
  bool* written = new bool[static_cast<unsigned>(variables)];
  for (int v = 0; v < variables; ++v) read[v] = written[v] = false;
  for (int k = first; k < b.operators.count; ++k) {
    const operator_desc& op = b.operators.items[k];
    if (!is_inside(b, op.block, inside)) continue;
    for (int out = 0; out < 2; ++out) {
      const slot_desc* slot_list = out == 0 ? op.schema->inputs : op.schema->outputs;
      const int slot_count = out == 0 ? op.schema->input_count : op.schema->output_count;
      bool* seen = out == 0 ? read : written;
      for (int s = 0, at = out == 0 ? op.inputs : op.outputs; s < slot_count; ++s) {
        const int n = slot_list[s].duplicable ? b.arguments.items[at++] : 1;
        for (int i = 0; i < n; ++i, ++at) {
          const int v = b.arguments.items[at];
          if (v < 0 || seen[v] || is_inside(b, b.variables.items[v].block, inside)) continue;
          seen[v] = true;
          (out == 0 ? reads : writes).push(v);
        }
      }
    }
  }
  delete[] read;
  delete[] written;
}

/// Creates the while or conditional_block operator that runs `block`. The operators of the block
/// must be recorded already, because the new operator gets all variables of outer blocks that they
/// read and write as its arguments. `first` is the number of the first of these operators. The
/// caller appends the new operator to the program.
constexpr operator_desc block_operator(program_builder& b, const operator_schema& schema, int block,
                                       int first, int condition, int scopes, int attributes) {
  constexpr_vector<int> reads, writes;
  outer_arguments(b, block, first, reads, writes);
  operator_desc op = b.begin(schema);
  if (op.schema->facts.block == block_rule::loop) {
    b.list(reads.items, reads.count);
    b.argument(condition);
  } else {
    b.list(&condition, 1);
    b.list(reads.items, reads.count);
  }
  op.outputs = b.arguments.count;
  b.list(writes.items, writes.count);
  b.argument(scopes);
  op.end = b.arguments.count;
  op.attributes = attributes;
  return op;
}

/// Returns the variable in slot StepScopes of a while, or in slot Scope of a conditional_block.
constexpr int scopes_of(const program_builder& b, const operator_desc& op) {
  return b.arguments.items[op.end - 1];
}

}  // namespace detail

}}  // namespace lamina
