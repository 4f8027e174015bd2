// SPDX-License-Identifier: Apache-2.0
// lamina/transform/prune.hpp - keeps what some variables need.
#pragma once

#include <lamina/core/fixed_string.hpp>
#include <lamina/program/program.hpp>

namespace lamina {

namespace detail {

/// The variable a name means: a layer's last output, or a variable's own name; -1 if unknown.
template <class Program>
constexpr int find_variable(const Program& p, const name_desc* names, int name_count,
                            int variable_count, std::string_view name) {
  for (int i = 0; i < name_count; ++i)
    if (names[i].output >= 0 && base_has_name(p, names, i, name)) return names[i].output;
  for (int v = 0; v < variable_count; ++v)
    if (has_name(p, v, name)) return v;
  return -1;
}

/// Keeps the operators that `targets` need, in their order; other outputs are forgotten.
constexpr void keep_needed(program_builder& b, const int* targets, int n) {
  bool* needed = new bool[static_cast<unsigned>(b.variables.count)];
  bool* keep = new bool[static_cast<unsigned>(b.operators.count)];
  for (int v = 0; v < b.variables.count; ++v) needed[v] = false;
  for (int i = 0; i < n; ++i) needed[targets[i]] = true;
  for (int k = b.operators.count; k-- > 0;) {
    const operator_desc& op = b.operators[k];
    keep[k] = op.schema->kind == operator_kind::source;
    for (int s = 0, at = op.outputs; s < op.schema->output_count; ++s) {
      const int count = op.schema->outputs[s].duplicable ? b.arguments[at++] : 1;
      for (int i = 0; i < count; ++i, ++at)
        keep[k] = keep[k] || (b.arguments[at] >= 0 && needed[b.arguments[at]]);
    }
    if (!keep[k]) continue;
    for (int s = 0, at = op.inputs; s < op.schema->input_count; ++s) {
      const int count = op.schema->inputs[s].duplicable ? b.arguments[at++] : 1;
      for (int i = 0; i < count; ++i, ++at)
        if (b.arguments[at] >= 0) needed[b.arguments[at]] = true;
    }
  }
  int kept = 0;
  for (int k = 0; k < b.operators.count; ++k)
    if (keep[k]) b.operators[kept++] = b.operators[k];
  b.operators.count = kept;
  b.outputs.count = 0;
  for (int i = 0; i < n; ++i) b.outputs.push(targets[i]);
  bool has_cost = false;
  for (int i = 0; i < n; ++i) has_cost = has_cost || targets[i] == b.cost;
  if (!has_cost) b.cost = -1;
  delete[] needed;
  delete[] keep;
}

template <class Pruned>
constexpr void keep_only(program_builder& b) {
  keep_needed(b, Pruned::targets, sizeof(Pruned::targets) / sizeof(int));
}

}  // namespace detail

/// A program pruned to the variables that Names mean.
template <program_type P, fixed_string... Names>
struct pruned : program_base<pruned<P, Names...>> {
  using result = void;
  static constexpr int targets[] = {detail::find_variable(
      P::desc, P::desc.names, P::desc.count.names, P::desc.count.variables, Names.view())...};
  static_assert(
      [] {
        for (int t : targets)
          if (t < 0) return false;
        return true;
      }(),
      "lamina: prune: no layer or variable of the program has this name");
  static constexpr program_desc desc = changed<P::desc, &detail::keep_only<pruned>>();
};

namespace transform {

/// The operators that the named layers or variables depend on. Fluid: Program.prune.
template <fixed_string... Names, program_type P>
constexpr pruned<P, Names...> prune(P) {
  return {};
}

}  // namespace transform
}  // namespace lamina
