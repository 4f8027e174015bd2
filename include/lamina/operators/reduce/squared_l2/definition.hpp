// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/squared_l2/definition.hpp - l1_norm, squared_l2_norm and
// squared_l2_distance: norms of arrays, and distances of rows.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = the sum of |X| over all elements, shape [1]. Fluid: l1_norm.
struct l1_norm : operator_definition {
  static constexpr const char* type = "l1_norm";
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 1;
  static constexpr auto reduces = row_reduction::sum;
};

/// Out = the sum of X^2 over all elements, shape [1]. Fluid: squared_l2_norm.
struct squared_l2_norm : l1_norm {
  static constexpr const char* type = "squared_l2_norm";
};

/// sub_result = X - Y; Out [rows, 1] = the sum of the squares of each row of sub_result. If Y has a
/// single row, this row is subtracted from each row of X. The gradient reads only the shapes of X
/// and Y. Fluid: squared_l2_distance.
struct squared_l2_distance : operator_definition {
  static constexpr const char* type = "squared_l2_distance";
  static constexpr auto inputs = slots_xy;
  static constexpr std::array<slot_desc, 2> outputs{{{"sub_result", false, false, true}, {"Out"}}};
  static constexpr std::uint32_t differentiable = 3;
  static constexpr std::uint32_t gradient_inputs = 3;
  static constexpr std::uint32_t gradient_outputs = 1;
  static constexpr std::uint32_t gradient_of_outputs = 2;
};

using reduce_squared_l2_operators = operator_list<l1_norm, squared_l2_norm, squared_l2_distance>;

}}}  // namespace lamina::operators
