// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/reshape/definition.hpp - operators that change the shape or permute
// dimensions.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI {

// Each of these operators has a second output, XShape, which has the shape [0, X's shape] and no
// elements. The gradient operator reads the shape of X from XShape, so that X need not be kept for
// it.

}}  // namespace lamina

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = X with the shape `shape`. A 0 in `shape` stands for the extent of X in the same dimension;
/// one -1 is allowed and is computed from the number of elements. Fluid: reshape2.
struct reshape2 : operator_definition {
  static constexpr const char* type = "reshape2";
  static constexpr std::array<slot_desc, 3> inputs{
      {{"X"}, {"Shape", false, true}, {"ShapeTensor", true, true}}};
  static constexpr std::array<slot_desc, 2> outputs{{{"Out"}, {"XShape", false, false, true}}};
  static constexpr std::array<attribute_desc, 1> attributes{{{"shape", attribute_type::integers}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_outputs = 2;
  static constexpr auto rows = row_rule::independent;
  static constexpr auto gradient_rows = row_rule::independent;
  static constexpr int alias = 0;
  static constexpr auto linear = linearity::linear;
};

/// Out = X with permuted dimensions: dimension k of Out is dimension axis[k] of X. Fluid:
/// transpose2.
struct transpose2 : operator_definition {
  static constexpr const char* type = "transpose2";
  static constexpr auto inputs = slots_x;
  static constexpr std::array<slot_desc, 2> outputs{{{"Out"}, {"XShape", false, false, true}}};
  static constexpr std::array<attribute_desc, 1> attributes{{{"axis", attribute_type::integers}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_outputs = 2;
  static constexpr auto rows = row_rule::independent;
  static constexpr auto gradient_rows = row_rule::independent;
  static constexpr int alias = 0;
  static constexpr bool alias_permutes = true;
  static constexpr auto linear = linearity::linear;
};

/// Out = X without the dimensions `axes`, whose extents must be 1. Fluid: squeeze2.
struct squeeze2 : operator_definition {
  static constexpr const char* type = "squeeze2";
  static constexpr auto inputs = slots_x;
  static constexpr std::array<slot_desc, 2> outputs{{{"Out"}, {"XShape", false, false, true}}};
  static constexpr std::array<attribute_desc, 1> attributes{{{"axes", attribute_type::integers}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_outputs = 2;
  static constexpr auto rows = row_rule::independent;
  static constexpr auto gradient_rows = row_rule::independent;
  static constexpr int alias = 0;
  static constexpr auto linear = linearity::linear;
};

/// Out = X with additional dimensions of extent 1, which are the dimensions `axes` of Out. Fluid:
/// unsqueeze2.
struct unsqueeze2 : operator_definition {
  static constexpr const char* type = "unsqueeze2";
  static constexpr auto inputs = slots_x;
  static constexpr std::array<slot_desc, 2> outputs{{{"Out"}, {"XShape", false, false, true}}};
  static constexpr std::array<attribute_desc, 1> attributes{{{"axes", attribute_type::integers}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_outputs = 2;
  static constexpr auto rows = row_rule::independent;
  static constexpr auto gradient_rows = row_rule::independent;
  static constexpr int alias = 0;
  static constexpr auto linear = linearity::linear;
};

/// Out = X as a matrix: the dimensions before `axis` are flattened to its rows, the others to its
/// columns. Fluid: flatten2.
struct flatten2 : operator_definition {
  static constexpr const char* type = "flatten2";
  static constexpr auto inputs = slots_x;
  static constexpr std::array<slot_desc, 2> outputs{{{"Out"}, {"XShape", false, false, true}}};
  static constexpr std::array<attribute_desc, 1> attributes{{{"axis", attribute_type::integer, 1}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_outputs = 2;
  static constexpr auto rows = row_rule::independent;
  static constexpr auto gradient_rows = row_rule::independent;
  static constexpr int alias = 0;
  static constexpr auto linear = linearity::linear;
};

using shape_reshape_operators = operator_list<reshape2, transpose2, squeeze2, unsqueeze2, flatten2>;

}}}  // namespace lamina::operators
