// SPDX-License-Identifier: Apache-2.0
// lamina/operators/matrix/matmul/definition.hpp - products of matrices and of batches of matrices.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = alpha * X * Y, where the last two dimensions of X and Y are matrices; transpose_X and
/// transpose_Y transpose them first. The dimensions before the last two must be equal, or one of X
/// and Y must have none: then its only matrix is multiplied by every matrix of the other one. A
/// vector X is a matrix with one row and a vector Y is a matrix with one column; Out does not have
/// this additional dimension. With skip_zeros, the product of an element 0 of X and any element of
/// Y is 0, even if the element of Y is NaN or infinite; this also holds in the gradient of Y. With
/// skip_zero_grads, the product of an element 0 of Out@GRAD and any other element is 0 in both
/// gradients. Fluid: matmul, which does not have skip_zeros and skip_zero_grads.
struct matmul : operator_definition {
  static constexpr const char* type = "matmul";
  static constexpr auto inputs = slots_xy;
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 5> attributes{
      {{"transpose_X", attribute_type::boolean, 0},
       {"transpose_Y", attribute_type::boolean, 0},
       {"alpha", attribute_type::real, 1},
       {"skip_zeros", attribute_type::boolean, 0},
       {"skip_zero_grads", attribute_type::boolean, 0}}};
  static constexpr std::uint32_t differentiable = 3;
  static constexpr std::uint32_t gradient_inputs = 3;
  static constexpr auto rows = row_rule::paired;
  static constexpr auto gradient_rows = row_rule::paired;
  static constexpr auto products = product_rule::matmul;
  static constexpr auto linear = linearity::product;
  static constexpr auto reduces = row_reduction::sum;
};

using matrix_matmul_operators = operator_list<matmul>;

}}}  // namespace lamina::operators
