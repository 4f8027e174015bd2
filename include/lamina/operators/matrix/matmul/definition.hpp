// SPDX-License-Identifier: Apache-2.0
// lamina/operators/matrix/matmul/definition.hpp - products of matrices and of batches of matrices.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = alpha * X * Y over the last two dimensions; a flag per side tells whether it is transposed
/// first. The leading dimensions must be equal, or one side must have none: then its matrix is
/// multiplied with every matrix of the other side. A vector X is treated as a row and a vector Y as
/// a column; the result lacks this additional dimension. With skip_zeros, a term with an element of
/// X that is 0 is 0 for every element of Y, including NaN; this holds for Out and for the gradient
/// of Y. With skip_zero_grads, a term of a gradient is 0 where the gradient of Out is 0. Fluid:
/// matmul, which lacks the last two attributes.
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
