// SPDX-License-Identifier: Apache-2.0
// lamina/operators/embedding/lookup_table/definition.hpp - embeddings: rows of a table, selected by
// ids.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out[i] = W[Ids[i]], or zeros if Ids[i] is padding_idx. Ids is [..., 1] int64, Out [..., width].
/// With is_sparse, the gradient of W is a sparse gradient (selected_rows), which holds only the
/// rows of W that Ids select. The gradient reads only the shape of W. With is_distributed, the rows
/// of W are divided among the processes of a training, and the gradient is sparse as well. Fluid:
/// lookup_table.
struct lookup_table : operator_definition {
  static constexpr const char* type = "lookup_table";
  static constexpr std::array<slot_desc, 2> inputs{{{"W"}, {"Ids"}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 3> attributes{
      {{"is_sparse", attribute_type::boolean, 0},
       {"is_distributed", attribute_type::boolean, 0},
       {"padding_idx", attribute_type::long_integer, -1}}};
  static constexpr bool knows_panels = true;
  static constexpr int divided_by = 1;
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 3;
  static constexpr void gradient(program_builder& b, const operator_desc& op);
};

/// W@GRAD as a sparse gradient (selected_rows): one row for each distinct id in Ids. The gradients
/// of equal ids are added up in the order of Ids. Fluid: lookup_table_grad with is_sparse.
struct lookup_table_rows_gradient : gradient_of<lookup_table> {};

/// Records the gradient of a lookup_table. In an inner block, such as the body of a loop, the
/// gradient is dense even with is_sparse, because the gradients of the iterations are added up.
/// Fluid does not accept selected_rows in a while_grad either.
constexpr void lookup_table::gradient(program_builder& b, const operator_desc& op) {
  const int before = b.operators.count;
  const bool asked = op.attributes >= 0 && (b.attributes.items[op.attributes].number != 0 ||
                                            b.attributes.items[op.attributes + 1].number != 0);
  const bool sparse = asked && b.gradients->body == 0;
  detail::record_gradient(
      b, op,
      {gradient_inputs, gradient_outputs, gradient_of_outputs,
       sparse ? schema_of<lookup_table_rows_gradient>() : schema_of<gradient_of<lookup_table>>()});
  if (!asked || b.operators.count == before) return;
  operator_desc& made = b.operators.items[b.operators.count - 1];
  if (sparse)
    b.variables.items[b.arguments.items[made.outputs]].kind = variable_kind::selected_rows;
  else
    made.attributes = b.attribute_list(false, false, b.attributes.items[op.attributes + 2].number);
}

using embedding_lookup_table_operators = operator_list<lookup_table, gradient_of<lookup_table>>;

}}}  // namespace lamina::operators
