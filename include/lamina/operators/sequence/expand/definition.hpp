// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/expand/definition.hpp - operators that repeat rows or sequences.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Repeats item i of X n times, where n is the length of sequence i in LoD level ref_level of Y
/// (-1: the last level). The items of X are its rows if X has no LoD or as many levels as Y has
/// above level ref_level; they are its sequences if X has one level more. Out has the levels of Y
/// down to ref_level; if the items are sequences, their copies form one more level below. The
/// gradient adds up the gradients of the copies, and reads only the shapes and LoD of X and Y.
/// Fluid: sequence_expand; there, Out has only the last level, and X at most one level.
struct sequence_expand : operator_definition {
  static constexpr const char* type = "sequence_expand";
  static constexpr auto inputs = slots_xy;
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"ref_level", attribute_type::integer, -1}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 3;
  static constexpr int made_levels = 1;
  static constexpr auto origin = row_origin::second_operand;
};

/// Repeats row i of X for each row of sequence i of Y, so Out has the rows of Y. The gradient adds
/// up the gradients of the copies, and reads only the shapes and LoD of X and Y. Fluid:
/// sequence_expand_as.
struct sequence_expand_as : operator_definition {
  static constexpr const char* type = "sequence_expand_as";
  static constexpr auto inputs = slots_xy;
  static constexpr auto outputs = slots_out;
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 3;
};

using sequence_expand_operators = operator_list<sequence_expand, sequence_expand_as>;

}}}  // namespace lamina::operators
