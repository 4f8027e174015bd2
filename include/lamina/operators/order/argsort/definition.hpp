// SPDX-License-Identifier: Apache-2.0
// lamina/operators/order/argsort/definition.hpp - argsort, arg_max and arg_min, which compare
// elements along a dimension.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = X sorted along dimension `axis`, the smallest element first or, with `descending`, the
/// largest first. Indices = the previous positions of the elements. Equal elements keep their
/// order; NaN counts as larger than all numbers. The gradient reads only the shape of X. Fluid:
/// argsort.
struct argsort : operator_definition {
  static constexpr const char* type = "argsort";
  static constexpr auto inputs = slots_x;
  static constexpr std::array<slot_desc, 2> outputs{{{"Out"}, {"Indices"}}};
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"axis", attribute_type::integer, -1}, {"descending", attribute_type::boolean, 0}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 1;
  static constexpr std::uint32_t gradient_outputs = 2;
  static constexpr auto meets_rows = row_meeting::along_dimension;
};

/// Out = the index of the largest element along dimension `axis`; among equal elements, the index
/// of the first. There is no gradient. Fluid: arg_max.
struct arg_max : operator_definition {
  static constexpr const char* type = "arg_max";
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"axis", attribute_type::long_integer, 0}, {"keepdims", attribute_type::boolean, 0}}};
};

/// Out = the index of the smallest element along dimension `axis`; among equal elements, the index
/// of the first. There is no gradient. Fluid: arg_min.
struct arg_min : arg_max {
  static constexpr const char* type = "arg_min";
};

using order_argsort_operators = operator_list<argsort, arg_max, arg_min>;

}}}  // namespace lamina::operators
