// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/layer_norm/definition.hpp - normalisation of the elements of each row.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Y = (X - Mean) / sqrt(Variance + epsilon) * Scale + Bias. Mean and the biased Variance are
/// computed over the dimensions from begin_norm_axis on. Source: Ba et al. 2016. Fluid: layer_norm.
struct layer_norm : operator_definition {
  static constexpr const char* type = "layer_norm";
  static constexpr std::array<slot_desc, 3> inputs{
      {{"X"}, {"Scale", false, true}, {"Bias", false, true}}};
  static constexpr std::array<slot_desc, 3> outputs{
      {{"Y"}, {"Mean", false, false, true}, {"Variance", false, false, true}}};
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"epsilon", attribute_type::real, 1e-5}, {"begin_norm_axis", attribute_type::integer, 1}}};
  static constexpr std::uint32_t differentiable = 7;
  static constexpr std::uint32_t gradient_inputs = 3;
  static constexpr std::uint32_t gradient_outputs = 6;
  static constexpr auto rows = row_rule::independent;
};

using norm_layer_norm_operators = operator_list<layer_norm>;

}}}  // namespace lamina::operators
