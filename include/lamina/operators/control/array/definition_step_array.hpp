// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/array/definition_step_array.hpp - operators that split a dimension of a
// variable into the slots of an array, and stack the slots again.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/control/array/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out[t] = the slice of X at index t of dimension `axis`, without this dimension. The gradient is
/// a tensor_array_to_tensor. Fluid has no such operator, because Fluid's recurrent operator slices
/// its inputs itself.
struct tensor_to_tensor_array : operator_definition {
  static constexpr const char* type = "tensor_to_tensor_array";
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 1> attributes{{{"axis", attribute_type::integer, 0}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr auto meets_rows = row_meeting::along_dimension;
  static constexpr void gradient(program_builder& b, const operator_desc& op);
};

/// Stacks the slots of X along a new dimension `axis`: index t of this dimension is X[t]. A slot
/// without a value counts as zeros. The gradient is a tensor_to_tensor_array. Fluid:
/// tensor_array_to_tensor with use_stack.
struct tensor_array_to_tensor : operator_definition {
  static constexpr const char* type = "tensor_array_to_tensor";
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"axis", attribute_type::integer, 0}, {"use_stack", attribute_type::boolean, 1}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr void gradient(program_builder& b, const operator_desc& op);
};

constexpr void tensor_to_tensor_array::gradient(program_builder& b, const operator_desc& op) {
  const int array = b.arguments[op.outputs];
  if (!wants_gradient(b, array) || b.gradients->gradient[array] < 0) return;
  const int made = partial_gradient(b, b.arguments[op.inputs]);
  if (made < 0) return;
  const attribute_value axis = b.attributes[op.attributes];
  b.add_operator(schema_of<tensor_array_to_tensor>(), {array_gradient(b, array)}, {made},
                 b.attribute_list(axis, true));
}

constexpr void tensor_array_to_tensor::gradient(program_builder& b, const operator_desc& op) {
  const int array = b.arguments[op.inputs];
  if (!wants_gradient(b, array)) return;
  const int whole = gradient_variable(b, b.arguments[op.outputs]);
  if (whole < 0) return;
  const attribute_value axis = b.attributes[op.attributes];
  b.add_operator(schema_of<tensor_to_tensor_array>(), {whole}, {array_gradient(b, array)},
                 b.attribute_list(axis));
}

using control_array_step_array_operators =
    operator_list<tensor_to_tensor_array, tensor_array_to_tensor>;

}}}  // namespace lamina::operators
