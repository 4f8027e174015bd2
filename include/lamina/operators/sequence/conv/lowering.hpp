// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/conv/lowering.hpp - lowers sequence_conv to a matrix of windows and a
// matrix product.
//
// sequence_conv is the product of a matrix of windows with the filter; row t of this matrix holds
// the rows of the window of row t, one after the other. The product is lowered like any other
// matrix product, so that operators after it can be fused with it. Only the matrix of windows needs
// a kernel that reads sequences.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/sequence/conv/definition.hpp>
#include <lamina/plan/lowering/layout_copies.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace lowering {

/// Whether an instruction may read `made`, the windows of x, instead of computing them again. If
/// they were computed in the body of a loop, the gradient of the same iteration can read them, too.
constexpr bool windows_are_known(const lowering_state& s, int made, int x) {
  return is_known(s, made, x) ||
         s.program.blocks[s.block].forward_block == s.variables.items[made].block;
}
/// Returns the variable with the windows of x, and adds the instruction that computes it if
/// necessary: a sequence_conv and its gradient share the windows.
constexpr int windows_of(lowering_state& s, int x, int padding, int columns, int k) {
  const operator_desc& op = s.program.operators[k];
  const int length = static_cast<int>(attribute(s, op, 0)),
            start = static_cast<int>(attribute(s, op, 1));
  for (int i = 0; i < s.windows.count; ++i)
    if (const sequence_window& w = s.windows[i]; w.x == x && w.padding == padding &&
                                                 w.length == length && w.start == start &&
                                                 windows_are_known(s, w.made, x))
      return w.made;
  const int made = temporary(s, s.variables.items[x].rows, columns, false, -1);
  emit_call(s, schema_of<operators::sequence_windows>(),
            {in_rows(s, x, k), padding < 0 ? -1 : in_rows(s, padding, k)}, {made}, k);
  s.windows.push({x, padding, length, start, made});
  return made;
}

constexpr void lower_sequence_conv(lowering_state& s, const operator_desc& op, int k) {
  const int filter = argument(s, op.inputs + 2), out = argument(s, op.outputs);
  const int seen = windows_of(s, argument(s, op.inputs), argument(s, op.inputs + 1),
                              s.variables.items[filter].rows, k);
  const int w = in_panels(s, filter, k);
  instruction i = begin(s, fusion_anchor::gemm, *op.schema, 0, k);
  use(s, seen, access::load);
  use(s, w, access::load);
  result(s, out);
  i.rows = s.variables.items[out].rows;
  i.columns = s.variables.items[out].columns;
  i.depth = s.variables.items[filter].rows;
  end(s, i);
}
constexpr void lower_sequence_conv_grad(lowering_state& s, const operator_desc& op, int k) {
  const int x = argument(s, op.inputs), padding = argument(s, op.inputs + 1);
  const int filter = argument(s, op.inputs + 2);
  const int d = padded_rows(s, argument(s, op.inputs + 3), k);
  const int dx = argument(s, op.outputs), dpadding = argument(s, op.outputs + 1);
  const int dfilter = argument(s, op.outputs + 2);
  const int rows = s.variables.items[x].rows, seen = s.variables.items[filter].rows;
  if (dx >= 0 || dpadding >= 0) {
    const int w = in_panels(s, filter, k), made = temporary(s, rows, seen, false, -1);
    instruction i = begin(s, fusion_anchor::gemm_dx, *op.schema, 0, k);
    use(s, d, access::load);
    use(s, w, access::load);
    result(s, made);
    i.rows = rows;
    i.columns = seen;
    i.depth = s.variables.items[filter].columns;
    end(s, i);
    if (dpadding >= 0) s.variables.items[dpadding].panel = false;
    emit_call(s, schema_of<operators::sequence_windows_grad>(), {made}, {dx, dpadding}, k);
  }
  if (dfilter >= 0) {
    const int a = windows_of(s, x, padding, seen, k);
    instruction i = begin(s, fusion_anchor::gemm_dw, *op.schema, 2, k);
    use(s, a, access::load);
    use(s, d, access::load);
    s.variables.items[dfilter].panel = true;
    result(s, dfilter);
    i.rows = seen;
    i.columns = s.variables.items[filter].columns;
    i.depth = rows;
    i.panel = true;
    end(s, i);
  }
}

/// Lowers operator k if it is a sequence_conv or the gradient of a sequence_conv. Otherwise returns
/// false.
constexpr bool lower_window_product(lowering_state& s, const operator_desc& op, int k) {
  if (is<operators::sequence_conv>(op)) return lower_sequence_conv(s, op, k), true;
  if (is<gradient_of<operators::sequence_conv>>(op))
    return lower_sequence_conv_grad(s, op, k), true;
  return false;
}

}}}  // namespace lamina::lowering
