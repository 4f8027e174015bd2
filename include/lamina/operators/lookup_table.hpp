// SPDX-License-Identifier: Apache-2.0
// lamina/operators/lookup_table.hpp - rows of a table by number: embeddings.
#pragma once

#include <lamina/operators/operator_definition.hpp>

namespace lamina {

/// Out[i] = W[Ids[i]], or zeros where Ids[i] is padding_idx. Ids [..., 1] int64, Out [..., width].
/// With is_sparse the gradient of W is a SelectedRows: the rows that were used. The gradient reads
/// W for its shape only. Fluid: lookup_table.
struct lookup_table : operator_definition {
  static constexpr const char* type = "lookup_table";
  static constexpr std::array<slot_desc, 2> inputs{{{"W"}, {"Ids"}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 3> attributes{
      {{"is_sparse", attribute_type::boolean, 0},
       {"is_distributed", attribute_type::boolean, 0},
       {"padding_idx", attribute_type::long_integer, -1}}};
  static constexpr bool knows_panels = true;
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 3;
};

}  // namespace lamina
