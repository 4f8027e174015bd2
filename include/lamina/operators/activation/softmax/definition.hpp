// SPDX-License-Identifier: Apache-2.0
// lamina/operators/activation/softmax/definition.hpp - the softmax function.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = e^(x - max) / sum e^(x - max), where max and sum are along dimension `axis`. Fluid:
/// softmax.
struct softmax : operator_definition {
  static constexpr const char* type = "softmax";
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"axis", attribute_type::integer, -1}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_outputs = 1;
  static constexpr auto rows = row_rule::independent;
  static constexpr auto gradient_rows = row_rule::independent;
  static constexpr auto meets_rows = row_meeting::along_dimension;
};

using activation_softmax_operators = operator_list<softmax>;

}}}  // namespace lamina::operators
