// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/sum/lowering.hpp - lowers a sum of variables to additions of two
// variables, and finds scalings by 1, which need no instruction.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/elementwise/binary/definition.hpp>
#include <lamina/operators/elementwise/sum/definition.hpp>
#include <lamina/plan/lowering/deferred_products.hpp>
#include <lamina/plan/lowering/layout_copies.hpp>
#include <lamina/plan/lowering/row_parts.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace lowering {

/// Whether `op` is a scale by 1 with a bias of 0.
constexpr bool is_identity(const lowering_state& s, const operator_desc& op) {
  return is<operators::scale>(op) && attribute(s, op, 0) == 1 && attribute(s, op, 1) == 0;
}

/// Lowers a sum to additions that can be fused. Returns false if this is not possible, and the
/// kernel of the sum must be called.
constexpr bool lower_sum(lowering_state& s, const operator_desc& op, int k) {
  const int n = argument(s, op.inputs), first = op.inputs + 1;
  const int out = argument(s, op.outputs);
  if (n < 2 || s.variables.items[out].type != s.real) return false;
  int last = n - 1;
  while (s.block > 0 && last > 0 && is_deferred(s, argument(s, first + last))) --last;
  if (last == 0) return true;
  bool panel = false;
  for (int a = 0; a < n; ++a) panel = panel || is_paneled(s, argument(s, first + a));
  const int parts = s.has_parts ? parts_of(s, first, n, out) : 1;
  if (changes(s, out)) panel = s.variables.items[out].panel;
  int so_far = -1;
  for (int a = 0; a <= last; ++a) {
    int v = argument(s, first + a);
    if (s.block > 0 && is_deferred(s, v)) continue;
    v = in_layout(s, v, panel, k);
    if (is_feed(s, root(s, v))) v = padded_rows(s, v, k);
    if (a == 0) {
      so_far = v;
      continue;
    }
    const int rows = s.variables.items[out].rows, columns = s.variables.items[out].columns;
    const int made = a == last ? out : temporary(s, rows, columns, panel, -1);
    instruction add =
        begin(s, fusion_anchor::pointwise, schema_of<operators::elementwise_add>(), 0, k);
    use(s, so_far, access::load);
    use(s, v, access::load);
    s.variables.items[made].panel = panel;
    if (parts > 1) cut(s, made, parts);
    result(s, made);
    add.rows = rows_in_parts(rows, parts);
    add.columns = columns / parts;
    add.panel = panel;
    end(s, add);
    so_far = made;
  }
  return true;
}

}}}  // namespace lamina::lowering
