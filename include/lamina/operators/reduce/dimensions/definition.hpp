// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/dimensions/definition.hpp - mean, the mean of all elements, and reduce_*:
// sums, means, products, maxima and minima along dimensions.
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

/// Base of the operators that reduce the dimensions `dim` of X, or all dimensions if reduce_all is
/// true. Dimension 0 is the rows, if X has rows; negative dimensions count from the end. With
/// keep_dim, Out has the reduced dimensions with extent 1; otherwise Out does not have them. A
/// reduction of all dimensions has the shape [1]. The gradients of reduce_max, reduce_min and
/// reduce_prod read X; the other gradients read only the shape of X.
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

/// Out = the sums of the reduced elements.
struct reduce_sum : reduction {
  static constexpr const char* type = "reduce_sum";
  static constexpr auto linear = linearity::linear;
  static constexpr auto reduces = row_reduction::sum;
};

/// Out = the means of the reduced elements. The mean of no elements is 0, as in the operator mean.
struct reduce_mean : reduction {
  static constexpr const char* type = "reduce_mean";
  static constexpr auto linear = linearity::linear;
  static constexpr auto reduces = row_reduction::mean;
};

/// Out = the largest of the reduced elements. The first element that equals the result gets the
/// gradient; in Fluid, each such element gets it.
struct reduce_max : reduction {
  static constexpr const char* type = "reduce_max";
  static constexpr std::uint32_t gradient_outputs = 1;
};

/// Out = the smallest of the reduced elements. The first element that equals the result gets the
/// gradient; in Fluid, each such element gets it.
struct reduce_min : reduction {
  static constexpr const char* type = "reduce_min";
  static constexpr std::uint32_t gradient_outputs = 1;
};

/// Out = the products of the reduced elements. The gradient of an element is Out@GRAD times the
/// product of all other elements.
struct reduce_prod : reduction {
  static constexpr const char* type = "reduce_prod";
  static constexpr std::uint32_t gradient_outputs = 1;
};

/// Out = true if all reduced elements are true. X and Out are bool.
struct reduce_all : reduction {
  static constexpr const char* type = "reduce_all";
  static constexpr std::uint32_t differentiable = 0;
};

/// Out = true if at least one of the reduced elements is true. X and Out are bool.
struct reduce_any : reduction {
  static constexpr const char* type = "reduce_any";
  static constexpr std::uint32_t differentiable = 0;
};

using reduce_dimensions_operators = operator_list<mean, reduce_sum, reduce_mean, reduce_max,
                                                  reduce_min, reduce_prod, reduce_all, reduce_any>;

}}}  // namespace lamina::operators
