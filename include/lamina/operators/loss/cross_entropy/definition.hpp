// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/cross_entropy/definition.hpp - costs of classifications.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Softmax = e^(x - max) / sum e^(x - max) over the last dimension. Loss = -log Softmax[label], or
/// -sum label * log Softmax with soft labels. A row whose label is ignore_index has cost 0 and
/// gradient 0. Fluid: softmax_with_cross_entropy.
struct softmax_with_cross_entropy : operator_definition {
  static constexpr const char* type = "softmax_with_cross_entropy";
  static constexpr std::array<slot_desc, 2> inputs{{{"Logits"}, {"Label"}}};
  static constexpr std::array<slot_desc, 2> outputs{{{"Softmax", false, false, true}, {"Loss"}}};
  static constexpr std::array<attribute_desc, 4> attributes{
      {{"soft_label", attribute_type::boolean, 0},
       {"ignore_index", attribute_type::integer, -100},
       {"numeric_stable_mode", attribute_type::boolean, 1},
       {"axis", attribute_type::integer, -1}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 2;
  static constexpr std::uint32_t gradient_outputs = 1;
  static constexpr std::uint32_t gradient_of_outputs = 2;
  static constexpr auto rows = row_rule::independent;
  static constexpr auto gradient_rows = row_rule::independent;
};

/// Y = -log X[label] for each row X of probabilities, or -sum label * log X with soft labels. The
/// logarithm is clipped to +-1e20. A row whose label is ignore_index has cost 0 and gradient 0.
/// Fluid: cross_entropy.
struct cross_entropy : operator_definition {
  static constexpr const char* type = "cross_entropy";
  static constexpr std::array<slot_desc, 2> inputs{{{"X"}, {"Label"}}};
  static constexpr std::array<slot_desc, 1> outputs{{{"Y"}}};
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"soft_label", attribute_type::boolean, 0},
       {"ignore_index", attribute_type::integer, -100}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 3;
  static constexpr auto rows = row_rule::independent;
};

using loss_cross_entropy_operators = operator_list<softmax_with_cross_entropy, cross_entropy>;

}}}  // namespace lamina::operators
