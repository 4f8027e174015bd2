// SPDX-License-Identifier: Apache-2.0
// lamina/plan/lowering/collected_products.hpp - the gradient of a weight that iterations of a loop
// add up: one product over the rows of many iterations.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/plan/lowering/append.hpp>
#include <lamina/plan/plan_operators.hpp>

namespace lamina::inline LAMINA_ABI::lowering {

/// An array of the plan's own: a variable without rows.
constexpr int array_of_rows(lowering_state& s, int columns) {
  return temporary(s, 0, columns, false, -1);
}

/// If dW of a product is only used in a sum over the iterations of loops, one product over the rows
/// of many iterations replaces it: stores the rows of this iteration and returns true.
constexpr bool collect(lowering_state& s, int x, int d, int dw, int k) {
  if (!s.has_blocks || s.uses.summed[dw] < 0) return false;
  const int sum = s.uses.summed[dw];
  const plan_variable to = s.variables.items[sum];
  if (!to.panel || to.root != sum || to.rows != s.variables.items[dw].rows ||
      to.columns != s.variables.items[dw].columns || is_inside(s.program, to.block, s.block))
    return false;
  const int here = s.block;
  s.block = to.block;
  const int xs = array_of_rows(s, to.rows), ds = array_of_rows(s, to.columns);
  s.block = here;
  emit_call(s, schema_of<collect_product>(), {x, d, sum}, {xs, ds, sum}, k);
  s.collected_sums.push({sum, xs, ds});
  s.uses.summed[dw] = variable_uses::collected;
  return true;
}
constexpr bool is_collected(const lowering_state& s, int v) {
  return s.uses.summed[v] == variable_uses::collected;
}

/// After a block operator: finishes the products in it whose sums belong to this block.
constexpr void finish_products(lowering_state& s, int k) {
  int left = 0;
  for (int n = 0; n < s.collected_sums.count; ++n) {
    const collected_sum c = s.collected_sums[n];
    if (s.variables.items[c.sum].block != s.block)
      s.collected_sums[left++] = c;
    else
      emit_call(s, schema_of<collected_product>(), {c.xs, c.ds, c.sum}, {c.sum}, k);
  }
  s.collected_sums.count = left;
}

}  // namespace lamina::inline LAMINA_ABI::lowering
