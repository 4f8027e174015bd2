// SPDX-License-Identifier: Apache-2.0
// lamina/operators/block_operators.hpp - operators that run a block: while, conditional_block.
// The block's number is the first attribute, so sub_block_of() finds it.
#pragma once

#include <lamina/operators/operator_definition.hpp>

namespace lamina {

/// Runs sub_block while Condition, one bool, is true. X: all that the block reads from outside;
/// Out: what it writes there. Variables of the block belong to one iteration; those that its
/// gradient needs stay in StepScopes. Fluid: while.
struct while_block : operator_definition {
  static constexpr const char* type = "while";
  static constexpr std::array<slot_desc, 2> inputs{{{"X", true}, {"Condition"}}};
  static constexpr std::array<slot_desc, 2> outputs{{{"Out", true}, {"StepScopes"}}};
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"sub_block", attribute_type::block, -1}, {"is_test", attribute_type::boolean, 0}}};
  static constexpr bool has_side_effect = true;
};

/// Runs sub_block, the gradients of one iteration, for each iteration of a while, last one first.
/// X@GRAD: what the block adds to or overwrites. Fluid: while_grad.
struct while_block_gradient : operator_definition {
  static constexpr const char* type = "while_grad";
  static constexpr std::array<slot_desc, 4> inputs{
      {{"X", true}, {"Out", true}, {"Out@GRAD", true}, {"StepScopes"}}};
  static constexpr std::array<slot_desc, 1> outputs{{{"X@GRAD", true, true}}};
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"sub_block", attribute_type::block, -1}}};
};

/// Runs sub_block if Cond, with is_scalar_condition one bool, is true; without it, if Cond has
/// rows, and else Out has none. Fluid: conditional_block.
struct conditional_block : operator_definition {
  static constexpr const char* type = "conditional_block";
  static constexpr std::array<slot_desc, 2> inputs{{{"Cond", true}, {"Input", true}}};
  static constexpr std::array<slot_desc, 2> outputs{{{"Out", true}, {"Scope"}}};
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"sub_block", attribute_type::block, -1},
       {"is_scalar_condition", attribute_type::boolean, 0}}};
  static constexpr bool has_side_effect = true;
};

/// Runs sub_block, the gradients of a conditional_block, if that one ran; Input@GRAD is what the
/// block adds to or overwrites, zeros before. Fluid: conditional_block_grad.
struct conditional_block_gradient : operator_definition {
  static constexpr const char* type = "conditional_block_grad";
  static constexpr std::array<slot_desc, 5> inputs{
      {{"Cond", true}, {"Input", true}, {"Out", true}, {"Out@GRAD", true}, {"Scope"}}};
  static constexpr std::array<slot_desc, 1> outputs{{{"Input@GRAD", true, true}}};
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"sub_block", attribute_type::block, -1},
       {"is_scalar_condition", attribute_type::boolean, 0}}};
};

}  // namespace lamina
