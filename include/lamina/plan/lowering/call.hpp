// SPDX-License-Identifier: Apache-2.0
// lamina/plan/lowering/call.hpp - lowers an operator to a call of its kernel.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/plan/lowering/layout_copies.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace lowering {

/// Lowers an operator to a call of its kernel. The operands keep the order of the operator's
/// arguments, including empty slots.
constexpr void lower_call(lowering_state& s, const operator_desc& op, int k) {
  const bool raw = op.schema->knows_panels;
  int* taken = new int[static_cast<unsigned>(op.end - op.inputs)];
  int n = 0;
  for (int slot = 0, at = op.inputs; slot < op.schema->input_count; ++slot) {
    const bool list = op.schema->inputs[slot].duplicable;
    const int count = list ? argument(s, at++) : 1;
    for (int i = 0; i < count; ++i, ++at) {
      const int v = argument(s, at);
      taken[n++] = v < 0 || raw ? v : in_rows(s, v, k);
    }
  }
  instruction i = begin(s, fusion_anchor::call, *op.schema, 0, k);
  for (int a = 0; a < n; ++a) use(s, taken[a], access::load);
  delete[] taken;
  for (int slot = 0, at = op.outputs; slot < op.schema->output_count; ++slot) {
    const bool list = op.schema->outputs[slot].duplicable;
    const int count = list ? argument(s, at++) : 1;
    for (int o = 0; o < count; ++o, ++at) {
      const int v = argument(s, at);
      // A kernel that supports panels writes the gradient of a weight in the layout of the weight;
      // any other kernel writes it row by row.
      if (v >= 0 && s.program.variables[v].kind == variable_kind::gradient)
        s.variables.items[v].panel =
            raw && is_weight(s.program.variables[s.program.variables[v].of]);
      result(s, v);
    }
  }
  end(s, i);
}

}}}  // namespace lamina::lowering
