// SPDX-License-Identifier: Apache-2.0
// lamina/transform/unchanged_parameters.hpp - finds parameters that the program overwrites before a
// gradient operator has read the values from the forward run.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/compile_time/constexpr_vector.hpp>
#include <lamina/operators/gradient.hpp>
#include <lamina/program/block.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Whether an operator computes the gradient of variable v and no other gradient.
constexpr bool makes_only_gradient_of(const program_builder& b, const operator_desc& op, int v) {
  for (int at = op.outputs; at < op.end; ++at)
    if (const int made = b.arguments.items[at]; made >= 0 && b.variables.items[made].of != v)
      return false;
  return true;
}

/// Reports a parameter that the gradient operators of operator k read after its value has changed:
/// another value was stored after operator k, or by a later iteration of a loop around operator k.
/// The gradient operators of k begin with operator `first`; `stores` holds the numbers of the
/// operators that store values.
constexpr void require_unchanged(program_builder& b, const constexpr_vector<int>& stores, int first,
                                 int k) {
  const int root = b.variables.items[b.cost].block;
  int body = b.operators.items[k].block;  // body of the outermost block around k, else root
  while (body > root && b.blocks.items[body].parent != root) body = b.blocks.items[body].parent;
  const operator_facts facts = b.operators.items[k].schema->facts;
  const bool is_product =
      facts.linear == linearity::product ||
      (facts.products != product_rule::none && facts.products != product_rule::recurrent);
  for (int g = first; g < b.operators.count; ++g) {
    const operator_desc op = b.operators.items[g];
    for (int s = 0, at = op.inputs; s < op.schema->input_count; ++s) {
      const int n = op.schema->inputs[s].duplicable ? b.arguments.items[at++] : 1;
      for (int i = 0; i < n; ++i, ++at) {
        const int v = b.arguments.items[at];
        if (v < 0 || b.variables.items[v].kind != variable_kind::parameter) continue;
        // If v is a factor of a product and operator g computes only the gradient of v, g needs
        // only the other factor.
        if (is_product && makes_only_gradient_of(b, op, v)) continue;
        for (int j = 0; j < stores.count; ++j) {
          const operator_desc& store = b.operators.items[stores.items[j]];
          const bool later =
              stores.items[j] > k || (body > root && is_inside(b, store.block, body));
          if (later && output_of(b, store, 0) == v)
            report_variable(b, fault_kind::stored_too_early, v, 0);
        }
      }
    }
  }
}

}}}  // namespace lamina::detail
