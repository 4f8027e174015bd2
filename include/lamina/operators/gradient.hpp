// SPDX-License-Identifier: Apache-2.0
// lamina/operators/gradient.hpp - functions for gradient rules: they create the partial gradients
// of a variable and their sum.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/program/program_builder.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The state of append_backward while it goes over the operators of a block, from the last to the
/// first. Each operator that reads a variable contributes a partial gradient; the gradient of the
/// variable is their sum. The gradient block of a loop has a separate state: there, the gradients
/// of variables of outer blocks start from zero, and are added to the gradients of the outer block
/// at the end. The arrays are large enough for the largest program; only the entries that a program
/// uses take time.
struct gradient_state {
  static constexpr int capacity = program_limits.variables;
  const operator_schema* sum;        // the operators that add partial gradients and make zeros; set
  const operator_schema* zeros;      // by the caller: headers of operators include this header
  const operator_schema* rows_sum;   // the sum of selected_rows gradients
  const operator_schema* mixed_sum;  // the sum if only some gradients are selected_rows
  int forward_variables;             // number of variables before the first gradient
  int body;                          // the block to which these gradients belong
  bool (&wanted)[capacity];          // whether training needs the gradient of a variable
  int (&next)[capacity];             // per gradient variable: the previous partial gradient
  int first[capacity];               // per variable: its newest partial gradient, or -1
  int partials[capacity];            // per variable: the number of its partial gradients
  int gradient[capacity];            // per variable: its finished gradient, or -1
  int sums[capacity];  // per variable: its gradient summed over the runs of a block, or -1
};

/// Whether the gradient of `variable` is needed.
constexpr bool wants_gradient(const program_builder& b, int variable) {
  return variable >= 0 && variable < b.gradients->forward_variables &&
         b.gradients->wanted[variable];
}

/// Creates a partial gradient of `variable` and returns it; returns -1 if the gradient is not
/// needed.
constexpr int partial_gradient(program_builder& b, int variable) {
  if (!wants_gradient(b, variable)) return -1;
  gradient_state& g = *b.gradients;
  const variable_desc v = b.variables.items[variable];
  const char* suffix = is_inside(b, v.block, g.body) ? "@GRAD" : "@GRAD@STEP";
  const int made =
      b.variables.push({-1, variable, suffix, -1, v.dims, v.rank, v.rows, -1, b.current_block,
                        v.type, variable_kind::gradient, false, false});
  g.next[made] = g.first[variable];
  g.first[variable] = made;
  ++g.partials[variable];
  return made;
}

/// Writes the partial gradients of `variable` to `parts`, the oldest first, and appends a number to
/// the name of each.
constexpr void rename_partials(program_builder& b, int variable, int* parts) {
  const gradient_state& g = *b.gradients;
  const bool own = is_inside(b, b.variables.items[variable].block, g.body);
  for (int at = g.first[variable], i = g.partials[variable]; i-- > 0; at = g.next[at]) {
    parts[i] = at;
    b.variables.items[at].suffix = own ? "@GRAD@RENAME@" : "@GRAD@STEP@RENAME@";
    b.variables.items[at].number = i;
  }
}

/// Returns how many of the n partial gradients are sparse (selected_rows).
constexpr int count_selected_rows(const program_builder& b, const int* parts, int n) {
  int selected = 0;
  for (int i = 0; i < n; ++i)
    selected += b.variables.items[parts[i]].kind == variable_kind::selected_rows ? 1 : 0;
  return selected;
}

/// Returns the complete gradient of `variable`; -1 if no operator contributes to it. If there are
/// several partial gradients, renames them and records a `sum`, as Fluid does. The sum is sparse
/// (selected_rows) if all partial gradients are sparse.
constexpr int gradient_variable(program_builder& b, int variable) {
  gradient_state& g = *b.gradients;
  if (variable < 0 || g.gradient[variable] >= 0 || g.partials[variable] == 0)
    return variable < 0 ? -1 : g.gradient[variable];
  const int n = g.partials[variable];
  if (n == 1) return g.gradient[variable] = g.first[variable];
  int* parts = new int[static_cast<unsigned>(n)];
  variable_desc whole = b.variables.items[g.first[variable]];
  rename_partials(b, variable, parts);
  const int selected = count_selected_rows(b, parts, n);
  whole.kind = selected == n ? variable_kind::selected_rows : variable_kind::gradient;
  const int made = b.variables.push(whole);
  operator_desc op = b.begin(selected == 0 ? *g.sum : selected == n ? *g.rows_sum : *g.mixed_sum);
  b.list(parts, n);
  op.outputs = b.arguments.count;
  b.argument(made);
  op.end = b.arguments.count;
  b.operators.push(op);
  delete[] parts;
  return g.gradient[variable] = made;
}

/// Returns the gradient of an array of tensors, which is also an array and is initially empty.
constexpr int array_gradient(program_builder& b, int array) {
  gradient_state& g = *b.gradients;
  if (g.gradient[array] >= 0) return g.gradient[array];
  variable_desc v = b.variables.items[array];
  v.base = -1;
  v.of = array;
  v.suffix = "@GRAD";
  v.number = -1;
  v.block = b.current_block;
  return g.gradient[array] = b.variables.push(v);
}

namespace detail {

/// Creates a gradient of zeros, for an output that no later operator reads.
constexpr int zero_gradient(program_builder& b, int variable) {
  variable_desc v = b.variables.items[variable];
  v.base = -1;
  v.of = variable;
  v.suffix = "@GRAD";
  v.number = -1;
  v.kind = variable_kind::gradient;
  v.persistable = false;
  v.block = b.current_block;
  const int made = b.variables.push(v);
  b.add_operator(*b.gradients->zeros, {variable}, {made});
  return made;
}

}  // namespace detail
}}  // namespace lamina
