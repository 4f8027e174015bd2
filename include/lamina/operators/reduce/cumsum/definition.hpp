// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/cumsum/definition.hpp - cumsum: cumulative sums along a dimension.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out[i] = X[0] + ... + X[i] along dimension `axis`. With `exclusive`, the sum does not include
/// X[i]; with `reverse`, it runs from the last element to X[i]. The gradient is a `cumsum` in the
/// other direction. Fluid: cumsum.
struct cumsum : operator_definition {
  static constexpr const char* type = "cumsum";
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 3> attributes{
      {{"axis", attribute_type::integer, -1},
       {"exclusive", attribute_type::boolean, 0},
       {"reverse", attribute_type::boolean, 0}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr auto meets_rows = row_meeting::along_dimension;
  static constexpr void gradient(program_builder& b, const operator_desc& op) {
    const int whole = gradient_variable(b, b.arguments[op.outputs]);
    if (whole < 0) return;
    const int made = partial_gradient(b, b.arguments[op.inputs]);
    if (made < 0) return;
    attribute_value axis{-1, 0, 0}, exclusive{0, 0, 0}, reverse{0, 0, 0};
    if (op.attributes >= 0) {
      axis = b.attributes[op.attributes];
      exclusive = b.attributes[op.attributes + 1];
      reverse = b.attributes[op.attributes + 2];
    }
    reverse.number = 1 - reverse.number;
    b.add_operator(schema_of<cumsum>(), {whole}, {made},
                   b.attribute_list(axis, exclusive, reverse));
  }
};

using reduce_cumsum_operators = operator_list<cumsum>;

}}}  // namespace lamina::operators
