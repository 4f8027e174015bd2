// SPDX-License-Identifier: Apache-2.0
// lamina/operators/random/dropout/definition.hpp - dropout, which sets random elements to 0 in
// training.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// In training (is_test = false), each element of X is kept with the probability 1 - dropout_prob.
/// Mask is 1 for elements that are kept, else 0. With dropout_implementation "downgrade_in_infer",
/// Out = X * Mask in training and X * (1
/// - dropout_prob) with is_test. With "upscale_in_train", Out = X * Mask / (1 - dropout_prob) in
/// training and X with is_test. Source: Srivastava et al. 2014. Fluid: dropout.
struct dropout : operator_definition {
  static constexpr const char* type = "dropout";
  static constexpr std::array<slot_desc, 2> inputs{{{"X"}, {"Seed", false, true}}};
  static constexpr std::array<slot_desc, 2> outputs{{{"Out"}, {"Mask", false, false, true}}};
  static constexpr std::array<attribute_desc, 5> attributes{
      {{"dropout_prob", attribute_type::real, 0.5},
       {"is_test", attribute_type::boolean, 0},
       {"fix_seed", attribute_type::boolean, 0},
       {"seed", attribute_type::integer, 0},
       {"dropout_implementation", attribute_type::string, 0, "downgrade_in_infer"}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_outputs = 2;
  static constexpr auto rows = row_rule::independent;
  static constexpr auto gradient_rows = row_rule::independent;
  static constexpr bool random = true;
};

using random_dropout_operators = operator_list<dropout>;

}}}  // namespace lamina::operators
