// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/layer_norm/definition.hpp - normalisation of the elements of each row
// (layer_norm) or of the channels of images (group_norm, instance_norm).
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

/// Y = (X - Mean) / sqrt(Variance + epsilon) * Scale + Bias. Mean and the biased Variance [N,
/// groups] are computed over all elements of the channels of a group. Scale and Bias [C] have one
/// number per channel. Source: Wu and He 2018. Fluid: group_norm.
struct group_norm : operator_definition {
  static constexpr const char* type = "group_norm";
  static constexpr std::array<slot_desc, 3> inputs{
      {{"X"}, {"Scale", false, true}, {"Bias", false, true}}};
  static constexpr std::array<slot_desc, 3> outputs{
      {{"Y"}, {"Mean", false, false, true}, {"Variance", false, false, true}}};
  static constexpr std::array<attribute_desc, 3> attributes{
      {{"epsilon", attribute_type::real, 1e-5},
       {"groups", attribute_type::integer, 1},
       {"data_layout", attribute_type::string, 0, "NCHW"}}};
  static constexpr std::uint32_t differentiable = 7;
  static constexpr std::uint32_t gradient_inputs = 3;
  static constexpr std::uint32_t gradient_outputs = 6;
};

/// group_norm with one group per channel. SavedVariance is 1 / sqrt(variance + epsilon). Source:
/// Ulyanov et al. 2016. Fluid: instance_norm.
struct instance_norm : operator_definition {
  static constexpr const char* type = "instance_norm";
  static constexpr std::array<slot_desc, 3> inputs{
      {{"X"}, {"Scale", false, true}, {"Bias", false, true}}};
  static constexpr std::array<slot_desc, 3> outputs{
      {{"Y"}, {"SavedMean", false, false, true}, {"SavedVariance", false, false, true}}};
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"epsilon", attribute_type::real, 1e-5}}};
  static constexpr std::uint32_t differentiable = 7;
  static constexpr std::uint32_t gradient_inputs = 3;
  static constexpr std::uint32_t gradient_outputs = 6;
};

using norm_layer_norm_operators = operator_list<layer_norm, group_norm, instance_norm>;

}}}  // namespace lamina::operators
