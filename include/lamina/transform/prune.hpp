// SPDX-License-Identifier: Apache-2.0
// lamina/transform/prune.hpp - reduces a program to the operators that given variables need.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/core/compile_time/fixed_string.hpp>
#include <lamina/core/messages/check.hpp>
#include <lamina/operators/control/array/definition.hpp>
#include <lamina/operators/control/block/definition.hpp>
#include <lamina/program/program.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// Whether an operator runs a block that does not compute gradients.
constexpr bool runs_forward(const operator_desc& op) {
  const block_rule rule = op.schema->facts.block;
  return rule == block_rule::loop || rule == block_rule::branch;
}

/// Returns the variable for a name: if it is the name of a layer, the variable that this layer
/// returned, otherwise the variable with this name; -1 if there is none.
template <class Program>
constexpr int find_variable(const Program& p, const name_desc* names, int name_count,
                            int variable_count, std::string_view name) {
  for (int i = 0; i < name_count; ++i)
    if (names[i].output >= 0 && base_has_name(p, names, i, name)) return names[i].output;
  for (int v = 0; v < variable_count; ++v)
    if (has_name(p, v, name)) return v;
  return -1;
}

/// Finds the operators on which some variables depend. An operator that runs a block is needed if
/// any operator in the block is needed. In the body of a loop, an operator may need a later
/// operator, because it reads the result of the previous iteration; so several passes are made.
class needed_operators {
 public:
  constexpr explicit needed_operators(program_builder& b)
      : b_(b),
        variables_(all_false(b.variables.count)),
        operators_(all_false(b.operators.count)),
        blocks_(all_false(b.blocks.count)) {}
  needed_operators(const needed_operators&) = delete;
  needed_operators& operator=(const needed_operators&) = delete;
  constexpr ~needed_operators() {
    delete[] variables_;
    delete[] operators_;
    delete[] blocks_;
  }

  constexpr void need(int variable) {
    if (variable >= 0) variables_[variable] = true;
  }
  constexpr void find() {
    while (sweep() && b_.blocks.count > 1) {
    }
  }
  constexpr bool keeps(int k) const { return operators_[k]; }

 private:
  static constexpr bool* all_false(int n) {
    bool* made = new bool[static_cast<unsigned>(n) + 1];
    for (int i = 0; i < n; ++i) made[i] = false;
    return made;
  }

  template <class F>
  constexpr void for_each_output(const operator_desc& op, const F& f) const {
    for (int s = 0, at = op.outputs; s < op.schema->output_count; ++s) {
      const int n = op.schema->outputs[s].duplicable ? b_.arguments.items[at++] : 1;
      for (int i = 0; i < n; ++i, ++at)
        if (b_.arguments.items[at] >= 0) f(b_.arguments.items[at]);
    }
  }

  // Makes one pass over the operators. Returns whether it found another needed operator.
  constexpr bool sweep() {
    bool found = false;
    for (int k = b_.operators.count; k-- > 0;) {
      const operator_desc& op = b_.operators.items[k];
      if (operators_[k] || !is_needed(op)) continue;
      operators_[k] = found = true;
      for (int block = op.block; block > 0; block = b_.blocks.items[block].parent)
        blocks_[block] = true;
      need_arguments(op);
    }
    return found;
  }

  constexpr bool is_needed(const operator_desc& op) const {
    if (op.schema->kind == operator_kind::source) return true;
    if (const int block = sub_block_of(b_, op); block >= 0)
      return blocks_[block] || (runs_forward(op) && variables_[scopes_of(b_, op)]);
    // A write_to_array_gradient also clears a slot of the array's gradient, so it is needed even if
    // no needed operator reads its results.
    if (is<operators::write_to_array_gradient>(op) && variables_[input_of(b_, op, 2)]) return true;
    bool needed = false;
    for_each_output(op, [&](int v) { needed = needed || variables_[v]; });
    return needed;
  }
  // Marks the variables that an operator reads. If the operator runs a forward block, only its
  // condition is marked: its other arguments are variables that operators in the block read, and
  // are marked for these operators. If it runs a block of gradients, all its arguments are marked,
  // because it has one sum of gradients per variable that it reads.
  constexpr void need_arguments(const operator_desc& op) {
    const bool runs = sub_block_of(b_, op) >= 0;
    if (runs && runs_forward(op)) return need(condition_of(b_, op));
    for (int s = 0, at = op.inputs; s < op.schema->input_count; ++s) {
      const int n = op.schema->inputs[s].duplicable ? b_.arguments.items[at++] : 1;
      for (int i = 0; i < n; ++i, ++at) need(b_.arguments.items[at]);
    }
    if (runs) for_each_output(op, [&](int v) { need(v); });
  }

  program_builder& b_;
  bool* variables_;
  bool* operators_;
  bool* blocks_;  // blocks that contain a needed operator
};

/// Keeps the operators that `targets` need, in their order, and drops unused outputs. For an
/// operator that runs a block, also drops the arguments that no remaining operator in the block
/// uses.
constexpr void keep_needed(program_builder& b, const int* targets, int n) {
  needed_operators needed(b);
  for (int i = 0; i < n; ++i) needed.need(targets[i]);
  needed.find();
  int kept = 0;
  for (int k = 0; k < b.operators.count; ++k)
    if (needed.keeps(k)) b.operators[kept++] = b.operators[k];
  b.operators.count = kept;
  for (int k = 0; b.blocks.count > 1 && k < kept; ++k) {
    const operator_desc op = b.operators[k];
    if (!runs_forward(op)) continue;
    operator_desc& made = b.operators[k];
    made = block_operator(b, *op.schema, sub_block_of(b, op), 0, condition_of(b, op),
                          scopes_of(b, op), op.attributes);
    made.block = op.block;
    made.role = op.role;
  }
  b.outputs.count = 0;
  for (int i = 0; i < n; ++i)
    if (targets[i] >= 0) b.outputs.push(targets[i]);
  bool has_cost = false;
  for (int i = 0; i < n; ++i) has_cost = has_cost || targets[i] == b.cost;
  if (!has_cost) b.cost = -1;
}

/// Whether the program has all targets. With `outside`: whether no target that the program has is a
/// variable of an inner block.
template <class P, std::size_t N>
constexpr bool all_targets(const int (&targets)[N], bool outside) {
  for (const int t : targets)
    if (outside ? t >= 0 && P::desc.variables[t].block != 0 : t < 0) return false;
  return true;
}

template <class Pruned>
constexpr void keep_only(program_builder& b) {
  keep_needed(b, Pruned::targets, sizeof(Pruned::targets) / sizeof(int));
}

}  // namespace detail

/// A program pruned to the variables with these names.
template <program_type P, fixed_string... Names>
struct pruned : program_base<pruned<P, Names...>> {
  using result = void;
  static constexpr int targets[] = {detail::find_variable(
      P::desc, P::desc.names, P::desc.count.names, P::desc.count.variables, Names.view())...};
  static constexpr program_desc desc = changed<P::desc, &detail::keep_only<pruned>>();
};

namespace transform {

/// Returns a program with only the operators on which the named layers or variables depend,
/// including operators in bodies of loops and branches. Fluid: Program.prune.
template <fixed_string... Names, program_type P>
constexpr pruned<P, Names...> prune(P) {
  constexpr auto& targets = pruned<P, Names...>::targets;
  static_assert(check<detail::all_targets<P>(targets, false)>,
                "lamina: prune: no layer or variable of the program has this name");
  static_assert(check<detail::all_targets<P>(targets, true)>,
                "lamina: prune: a variable of a loop or branch does not exist after it");
  return {};
}

}  // namespace transform
}}  // namespace lamina
