// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/dimensions/definition.hpp - sums, means, products and extremes along
// dimensions.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Base of the reductions over the dimensions `dim`, or over all dimensions with reduce_all.
/// Dimensions are counted over the whole shape, from the end if negative. keep_dim keeps reduced
/// dimensions with extent 1. A reduction over everything has shape [1]. The gradient reads X for
/// its shape; the gradients of reduce_max, reduce_min and reduce_prod also read its values.
struct reduction : operator_definition {
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 3> attributes{
      {{"dim", attribute_type::integers},
       {"keep_dim", attribute_type::boolean, 0},
       {"reduce_all", attribute_type::boolean, 0}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 1;
};

/// Sums.
struct reduce_sum : reduction {
  static constexpr const char* type = "reduce_sum";
  static constexpr auto linear = linearity::linear;
  static constexpr auto reduces = row_reduction::sum;
};

/// Means; the mean of no elements is 0, as in the operator mean.
struct reduce_mean : reduction {
  static constexpr const char* type = "reduce_mean";
  static constexpr auto linear = linearity::linear;
  static constexpr auto reduces = row_reduction::mean;
};

/// Largest elements; the first element that equals the result receives the gradient (in Fluid each
/// does).
struct reduce_max : reduction {
  static constexpr const char* type = "reduce_max";
  static constexpr std::uint32_t gradient_outputs = 1;
};

/// Smallest elements; the first element that equals the result receives the gradient (in Fluid each
/// does).
struct reduce_min : reduction {
  static constexpr const char* type = "reduce_min";
  static constexpr std::uint32_t gradient_outputs = 1;
};

/// Products; an element's gradient is dy times the product of all other elements.
struct reduce_prod : reduction {
  static constexpr const char* type = "reduce_prod";
  static constexpr std::uint32_t gradient_outputs = 1;
};

/// Whether all elements are true; for bool.
struct reduce_all : reduction {
  static constexpr const char* type = "reduce_all";
  static constexpr std::uint32_t differentiable = 0;
};

/// Whether any element is true; for bool.
struct reduce_any : reduction {
  static constexpr const char* type = "reduce_any";
  static constexpr std::uint32_t differentiable = 0;
};

using reduce_dimensions_operators = operator_list<reduce_sum, reduce_mean, reduce_max, reduce_min,
                                                  reduce_prod, reduce_all, reduce_any>;

}}}  // namespace lamina::operators
