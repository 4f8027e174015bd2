// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/layer_norm/definition.hpp - operators that normalise rows, and the cosine
// of two rows.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina::inline LAMINA_ABI {

/// Y = (X - Mean) / sqrt(Variance + epsilon) * Scale + Bias, where Mean and the biased Variance are
/// over the dimensions from begin_norm_axis on. Source: Ba et al. 2016. Fluid: layer_norm.
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
};

/// Out = X . Y / (XNorm * YNorm) a row, with the Euclidean norms XNorm and YNorm; Y may have one
/// row for all. Fluid: cos_sim.
struct cos_sim : operator_definition {
  static constexpr const char* type = "cos_sim";
  static constexpr auto inputs = slots_xy;
  static constexpr std::array<slot_desc, 3> outputs{
      {{"Out"}, {"XNorm", false, false, true}, {"YNorm", false, false, true}}};
  static constexpr std::uint32_t differentiable = 3;
  static constexpr std::uint32_t gradient_inputs = 3;
  static constexpr std::uint32_t gradient_outputs = 7;
};

using norm_layer_norm_operators = operator_list<layer_norm, norm, cos_sim>;

}  // namespace lamina::inline LAMINA_ABI
