// SPDX-License-Identifier: Apache-2.0
// lamina/plan/rows_met.hpp - finds the operator that makes a row depend on other rows of the
// mini-batch, so that the mini-batch cannot be computed in parts.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/compile_time/same_address.hpp>
#include <lamina/core/dtype.hpp>
#include <lamina/plan/rows_behind.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Whether an operator, recorded by layer::gradients, is the gradient of a mean over rows. The
/// results of such an operator depend on the number of rows in the mini-batch.
constexpr bool is_gradient_of_mean(const program_desc& p, const operator_desc& op) {
  return op.role == op_role::gradient_value && is_null(op.schema->gradient) &&
         op.schema->facts.reduces == row_reduction::mean &&
         p.variables[p.arguments[op.outputs - 1]].rows == once::domain;
}

/// Whether a row of the operator's results depends on other rows of the mini-batch, according to
/// the fact meets_rows of its definition.
constexpr bool meets_rows(const program_desc& p, const operator_desc& op) {
  const auto has_rows = [&](int input) {
    const int v = p.arguments[op.inputs + input];
    return v >= 0 && p.variables[v].rows != once::domain;
  };
  switch (op.schema->facts.meets_rows) {
    case row_meeting::always:
      for (int at = op.inputs; at < op.outputs; ++at)
        if (p.arguments[at] >= 0 && p.variables[p.arguments[at]].rows != once::domain) return true;
      return false;
    case row_meeting::with_first_rows:
      return has_rows(0);
    case row_meeting::along_dimension: {
      const double dim =
          op.attributes >= 0 ? p.attributes[op.attributes].number : op.schema->attributes[0].number;
      const int rank = p.variables[p.arguments[op.inputs]].rank;
      return has_rows(0) && (dim < 0 ? dim + rank : dim) == 0;
    }
    case row_meeting::without_sequences:
      return !has_rows(1) ||
             p.domains[p.variables[p.arguments[op.inputs + 1]].rows].kind != domain_kind::sequence;
    default:
      return false;
  }
}

/// Returns an operator on which `variable` depends and of whose results each row depends on all
/// rows of the mini-batch, such as the division of weights by their sum; -1 if there is none. With
/// such an operator, a part of a mini-batch would compute other values for its rows than the whole
/// mini-batch does.
constexpr int rows_met_at(const program_desc& p, int variable) {
  const rows_behind behind(p);
  const unsigned capacity = static_cast<unsigned>(p.count.variables) + 1;
  // By variable. In of_rows: whether it is a number that is computed from rows. In of_values:
  // whether it depends on the values of rows, not only on their count. In needed: whether
  // `variable` depends on it.
  bool* const of_rows = new bool[capacity];
  bool* const of_values = new bool[capacity];
  bool* const needed = new bool[capacity];
  for (unsigned v = 0; v < capacity; ++v) of_rows[v] = of_values[v] = needed[v] = false;
  const auto is_one = [&p](int v) { return p.variables[v].rows == once::domain; };
  // In a loop, an operator may read a value that a later operator computed in the previous
  // iteration, so a program with blocks needs two passes.
  for (int pass = p.count.blocks > 1 ? 0 : 1; pass < 2; ++pass)
    for (int k = 0; k < p.count.operators; ++k) {
      const operator_desc& op = p.operators[k];
      if (sub_block_of(p, op) >= 0) continue;  // the operators in the block write its results
      bool any = false, has_rows = false, any_values = false, is_real = false;
      behind.for_each(op.schema->inputs, op.schema->input_count, op.inputs, [&](int v) {
        any = any || of_rows[v] || !is_one(v);
        has_rows = has_rows || !is_one(v);
        any_values = any_values || of_values[v];
      });
      if (!any) continue;
      const auto each_output = [&](auto&& f) {
        behind.for_each(op.schema->outputs, op.schema->output_count, op.outputs, f);
      };
      each_output([&](int v) { is_real = is_real || is_floating(p.variables[v].type); });
      // Results such as the length of the longest sequence or a rank table depend on the count of
      // rows only.
      const bool reduces = has_rows && (is_real || op.schema->differentiable != 0 ||
                                        op.schema->facts.reduces != row_reduction::none);
      each_output([&](int v) {
        of_rows[v] = is_one(v) && (p.variables[v].kind == variable_kind::temporary ||
                                   op.role == op_role::gradient_value);
        of_values[v] = of_rows[v] && (any_values || reduces);
      });
    }
  int found = -1;
  needed[variable] = true;
  for (int k = p.count.operators; k-- > 0 && found < 0;) {
    const operator_desc& op = p.operators[k];
    bool makes = false, makes_rows = false;
    behind.for_each(op.schema->outputs, op.schema->output_count, op.outputs, [&](int v) {
      makes = makes || needed[v], makes_rows = makes_rows || (needed[v] && !is_one(v));
    });
    if (!makes) continue;
    const bool has_block = sub_block_of(p, op) >= 0;
    const bool meets =
        makes_rows && (op.schema->facts.broadcasts || op.role == op_role::gradient_value);
    bool does = meets_rows(p, op) || (makes_rows && is_gradient_of_mean(p, op));
    behind.for_each(op.schema->inputs, op.schema->input_count, op.inputs, [&](int v) {
      needed[v] = true;
      // Of an operator that runs a block, only the condition is examined, because the operators in
      // the block are examined one by one.
      const bool decides = !has_block || p.variables[v].type == dtype::boolean;
      does = does || (meets && of_rows[v]) || (makes_rows && decides && of_values[v]);
    });
    if (does) found = k;
  }
  delete[] of_rows;
  delete[] of_values;
  delete[] needed;
  return found;
}

}}}  // namespace lamina::detail
