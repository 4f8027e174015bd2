// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/concat/definition.hpp - operators that concatenate, split, cut out, pad or
// repeat arrays.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = the inputs concatenated along dimension `axis`. The gradient reads only the shapes of the
/// inputs. Fluid: concat.
struct concat : operator_definition {
  static constexpr const char* type = "concat";
  static constexpr std::array<slot_desc, 1> inputs{{{"X", true}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 1> attributes{{{"axis", attribute_type::integer, 0}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 1;
  static constexpr auto rows = row_rule::independent;
  static constexpr auto linear = linearity::linear;
};

/// The inverse of concat: the outputs are consecutive parts of X along dimension `axis`. `sections`
/// holds their extents along this dimension; if it is empty, the outputs are `num` equal parts. The
/// gradient is a `concat`, in which outputs without a gradient count as zeros. Fluid: split.
struct split : operator_definition {
  static constexpr const char* type = "split";
  static constexpr auto inputs = slots_x;
  static constexpr std::array<slot_desc, 1> outputs{{{"Out", true}}};
  static constexpr std::array<attribute_desc, 3> attributes{{{"sections", attribute_type::integers},
                                                             {"num", attribute_type::integer, 0},
                                                             {"axis", attribute_type::integer, 0}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr int divides = 2;
  static constexpr auto linear = linearity::linear;
  static constexpr void gradient(program_builder& b, const operator_desc& op) {
    const int n = b.arguments[op.outputs];
    int* parts = new int[static_cast<unsigned>(n)];
    bool any = false;
    for (int i = 0; i < n; ++i) {
      parts[i] = gradient_variable(b, b.arguments[op.outputs + 1 + i]);
      any = any || parts[i] >= 0;
    }
    const int x = b.arguments[op.inputs];
    if (any && wants_gradient(b, x)) {
      for (int i = 0; i < n; ++i)
        if (parts[i] < 0) parts[i] = detail::zero_gradient(b, b.arguments[op.outputs + 1 + i]);
      const int made = partial_gradient(b, x);
      const attribute_value axis = b.attributes[op.attributes + 2];
      const int made_attributes = b.attribute_list(axis);
      operator_desc concatenated = b.begin(schema_of<concat>());
      b.list(parts, n);
      concatenated.outputs = b.arguments.count;
      b.argument(made);
      concatenated.end = b.arguments.count;
      concatenated.attributes = made_attributes;
      b.operators.push(concatenated);
    }
    delete[] parts;
  }
};

/// Out has a new dimension `axis`: its slice at index i along this dimension is input i. Fluid:
/// stack.
struct stack : operator_definition {
  static constexpr const char* type = "stack";
  static constexpr std::array<slot_desc, 1> inputs{{{"X", true}}};
  static constexpr std::array<slot_desc, 1> outputs{{{"Y"}}};
  static constexpr std::array<attribute_desc, 1> attributes{{{"axis", attribute_type::integer, 0}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr auto rows = row_rule::independent;
  static constexpr auto linear = linearity::linear;
};

/// The inverse of stack: Y[i] = the slice of X at index i along dimension `axis`, without this
/// dimension. `num` is the number of slices. Fluid: unstack.
struct unstack : operator_definition {
  static constexpr const char* type = "unstack";
  static constexpr auto inputs = slots_x;
  static constexpr std::array<slot_desc, 1> outputs{{{"Y", true}}};
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"axis", attribute_type::integer, 0}, {"num", attribute_type::integer, 0}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr int divides = 0;
  static constexpr auto linear = linearity::linear;
};

/// Out = the elements of Input whose index along dimension axes[i] is at least starts[i] and less
/// than ends[i], for each i. Negative limits count from the end. The gradient reads only the shape
/// of Input. Fluid: slice.
struct slice : operator_definition {
  static constexpr const char* type = "slice";
  static constexpr std::array<slot_desc, 1> inputs{{{"Input"}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 3> attributes{{{"axes", attribute_type::integers},
                                                             {"starts", attribute_type::integers},
                                                             {"ends", attribute_type::integers}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 1;
  static constexpr auto linear = linearity::linear;
};

/// Out = the box of X that starts at index offsets[i] along dimension i. The shape of the box is
/// the shape of Y or, without Y, `shape`, where -1 stands for all elements from the offset on. If
/// the input Offsets [rank] is present, it replaces the attribute `offsets`. The gradient reads
/// only the shape of X. Fluid: crop.
struct crop : operator_definition {
  static constexpr const char* type = "crop";
  static constexpr std::array<slot_desc, 3> inputs{
      {{"X"}, {"Y", false, true}, {"Offsets", false, true}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"offsets", attribute_type::integers}, {"shape", attribute_type::integers}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 5;
  static constexpr auto linear = linearity::linear;
};

/// Out = X with paddings[2i] elements of pad_value before X and paddings[2i + 1] elements of
/// pad_value after X along dimension i. X@GRAD is the part of Out@GRAD that X has in Out. Fluid:
/// pad.
struct pad : operator_definition {
  static constexpr const char* type = "pad";
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"paddings", attribute_type::integers}, {"pad_value", attribute_type::real, 0}}};
  static constexpr std::uint32_t differentiable = 1;
};

/// Out = X repeated expand_times[i] times along dimension i. The gradient reads only the shape of
/// X. Fluid: expand.
struct expand : operator_definition {
  static constexpr const char* type = "expand";
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"expand_times", attribute_type::integers}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 1;
  static constexpr auto linear = linearity::linear;
};

using shape_concat_operators =
    operator_list<concat, split, stack, unstack, slice, crop, pad, expand>;

}}}  // namespace lamina::operators
