// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/mean/definition.hpp - mean, the mean of all elements.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = the sum of all elements of X divided by their number, shape [1]. If X has no rows, Out is
/// 0, so that the cost of a branch without rows is 0. In Fluid, it is 0 / 0 = NaN. Fluid: mean.
struct mean : operator_definition {
  static constexpr const char* type = "mean";
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
  static constexpr std::uint32_t differentiable = 1;
  static constexpr auto rows = row_rule::summed;
  static constexpr auto linear = linearity::linear;
  static constexpr auto reduces = row_reduction::mean;
};

using reduce_mean_operators = operator_list<mean>;

}}}  // namespace lamina::operators
