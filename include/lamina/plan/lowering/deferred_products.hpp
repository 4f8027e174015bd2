// SPDX-License-Identifier: Apache-2.0
// lamina/plan/lowering/deferred_products.hpp - replaces one small product per iteration of a loop
// by one product over the rows of many iterations, where the gradient of a weight is a sum over
// iterations.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/plan/lowering/append.hpp>
#include <lamina/plan/plan_operators.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace lowering {

/// Adds an array of tensors that only the plan contains. A variable with 0 rows is such an array.
constexpr int array_of_rows(lowering_state& s, int columns) {
  return temporary(s, 0, columns, false, -1);
}

/// If dW, the gradient of a product in a loop, is only used in a sum over the iterations, appends
/// an instruction that stores the rows of both factors of this iteration instead of computing dW.
/// One product over the rows of many iterations then adds to the sum. Returns whether it did this.
constexpr bool defer_product(lowering_state& s, int x, int d, int dw, int k) {
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
  emit_call(s, schema_of<operators::defer_product>(), {x, d, sum}, {xs, ds, sum}, k);
  s.deferred_sums.push({sum, xs, ds});
  s.uses.summed[dw] = variable_uses::deferred;
  return true;
}
constexpr bool is_deferred(const lowering_state& s, int v) {
  return s.uses.summed[v] == variable_uses::deferred;
}

/// Lowering calls it after an operator that runs a block. For each deferred product whose sum
/// belongs to the current block, it appends an instruction that adds the product of the remaining
/// rows to the sum.
constexpr void finish_products(lowering_state& s, int k) {
  int left = 0;
  for (int n = 0; n < s.deferred_sums.count; ++n) {
    const deferred_sum c = s.deferred_sums[n];
    if (s.variables.items[c.sum].block != s.block)
      s.deferred_sums[left++] = c;
    else
      emit_call(s, schema_of<operators::deferred_product>(), {c.xs, c.ds, c.sum}, {c.sum}, k);
  }
  s.deferred_sums.count = left;
}

}}}  // namespace lamina::lowering
