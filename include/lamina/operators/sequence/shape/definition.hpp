// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/shape/definition.hpp - operators that change the order of rows or their
// sequences.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = X with the rows of each sequence of the last LoD level in reverse order. The gradient is a
/// sequence_reverse as well. Fluid: sequence_reverse.
struct sequence_reverse : operator_definition {
  static constexpr const char* type = "sequence_reverse";
  static constexpr auto inputs = slots_x;
  static constexpr std::array<slot_desc, 1> outputs{{{"Y"}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr void gradient(program_builder& b, const operator_desc& op) {
    const int whole = gradient_variable(b, b.arguments[op.outputs]);
    if (whole < 0) return;
    const int made = partial_gradient(b, b.arguments[op.inputs]);
    if (made >= 0) b.add_operator(schema_of<sequence_reverse>(), {whole}, {made});
  }
};

/// Sequence i of Out is sequence i of X[0], followed by sequence i of X[1], ... All inputs must
/// have the same number of sequences. The gradient reads only the shapes and LoD of the inputs.
/// Fluid: sequence_concat.
struct sequence_concat : operator_definition {
  static constexpr const char* type = "sequence_concat";
  static constexpr std::array<slot_desc, 1> inputs{{{"X", true}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 1;
  static constexpr int made_levels = 1;
  static constexpr bool accepts_any_rows = true;
};

/// Sequence i of Out consists of Length[i] rows of sequence i of X, from row Offset[i] of the
/// sequence on. If one of these rows is not inside the sequence, the run fails. Offset and Length
/// are integers [sequences, 1]. X@GRAD is 0 in all other rows; the gradient reads only the shape
/// and LoD of X. Fluid: sequence_slice.
struct sequence_slice : operator_definition {
  static constexpr const char* type = "sequence_slice";
  static constexpr std::array<slot_desc, 3> inputs{{{"X"}, {"Offset"}, {"Length"}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 7;
  static constexpr int made_levels = 1;
};

/// Rearranges the elements of each sequence of X [rows, width] into rows of new_dim elements. A
/// sequence of n rows becomes a sequence of n * width / new_dim rows; if this is not an integer,
/// the run fails. The gradient reads only the shape and LoD of X. Fluid: sequence_reshape.
struct sequence_reshape : operator_definition {
  static constexpr const char* type = "sequence_reshape";
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"new_dim", attribute_type::integer, 0}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 1;
  static constexpr int made_levels = 1;
};

/// Out = X with other sequences. If Y has LoD, Out gets the LoD of Y. If Y has no LoD, Out gets one
/// level whose offsets are the values of Y. Without Y, the offsets are target_lod. With `append`,
/// the new level is added below the levels of X; otherwise it replaces them. The gradient reads
/// only the LoD of X. Fluid: lod_reset.
struct lod_reset : operator_definition {
  static constexpr const char* type = "lod_reset";
  static constexpr std::array<slot_desc, 2> inputs{{{"X"}, {"Y", false, true}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"target_lod", attribute_type::integers}, {"append", attribute_type::boolean, 0}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 1;
  static constexpr int made_levels = 2;
  static constexpr auto origin = row_origin::second_operand;
  static constexpr bool accepts_any_rows = true;
  static constexpr auto meets_rows = row_meeting::without_sequences;
};

using sequence_shape_operators =
    operator_list<sequence_reverse, sequence_concat, sequence_slice, sequence_reshape, lod_reset>;

}}}  // namespace lamina::operators
