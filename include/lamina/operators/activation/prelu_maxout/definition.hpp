// SPDX-License-Identifier: Apache-2.0
// lamina/operators/activation/prelu_maxout/definition.hpp - prelu, which has a trained slope, and
// maxout, the largest of several channels.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = x if x > 0, else Alpha * x, where Alpha is a parameter. Alpha has one number (mode "all"),
/// one number per channel ("channel", dimension 1 of X), or one number per element of a row
/// ("element"). Source: He et al. 2015.
struct prelu : operator_definition {
  static constexpr const char* type = "prelu";
  static constexpr std::array<slot_desc, 2> inputs{{{"X"}, {"Alpha"}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"mode", attribute_type::string, 0, "all"}}};
  static constexpr std::uint32_t differentiable = 3;
  static constexpr std::uint32_t gradient_inputs = 3;
};

/// Out = the largest of `groups` neighbouring channels, for each position of an image. X is [N, C,
/// H, W], Out [N, C / groups, H, W]. Source: Goodfellow et al. 2013.
struct maxout : operator_definition {
  static constexpr const char* type = "maxout";
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"groups", attribute_type::integer, 1}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 1;
  static constexpr std::uint32_t gradient_outputs = 1;
};

using activation_prelu_maxout_operators = operator_list<prelu, maxout>;

}}}  // namespace lamina::operators
