// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/norm/definition.hpp - normalisation of vectors along one dimension to
// length 1.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Norm = sqrt(sum X^2 + epsilon) along `axis`, Out = X / Norm. Fluid: norm.
struct norm : operator_definition {
  static constexpr const char* type = "norm";
  static constexpr auto inputs = slots_x;
  static constexpr std::array<slot_desc, 2> outputs{{{"Norm", false, false, true}, {"Out"}}};
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"axis", attribute_type::integer, -1}, {"epsilon", attribute_type::real, 1e-10}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 1;
  static constexpr std::uint32_t gradient_outputs = 1;
  static constexpr std::uint32_t gradient_of_outputs = 2;
  static constexpr auto meets_rows = row_meeting::along_dimension;
};

using norm_norm_operators = operator_list<norm>;

}}}  // namespace lamina::operators
