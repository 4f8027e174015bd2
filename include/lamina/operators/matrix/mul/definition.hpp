// SPDX-License-Identifier: Apache-2.0
// lamina/operators/matrix/mul/definition.hpp - mul: the matrix product, for example of an fc.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = X * Y, where X and Y are flattened to matrices: the first x_num_col_dims dimensions of X
/// and the first y_num_col_dims dimensions of Y are the rows of the matrices, the other dimensions
/// are the columns. The shape of Out is X.dims[:x_num_col_dims] + Y.dims[y_num_col_dims:]. Fluid:
/// mul.
struct mul : operator_definition {
  static constexpr const char* type = "mul";
  static constexpr auto kind = operator_kind::mul;
  static constexpr bool knows_panels = true;
  static constexpr auto inputs = slots_xy;
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"x_num_col_dims", attribute_type::integer, 1},
       {"y_num_col_dims", attribute_type::integer, 1}}};
  static constexpr std::uint32_t differentiable = 3;
  static constexpr std::uint32_t gradient_inputs = 3;
  static constexpr auto products = product_rule::mul;
  static constexpr auto linear = linearity::product;
};

using matrix_mul_operators = operator_list<mul>;

}}}  // namespace lamina::operators
