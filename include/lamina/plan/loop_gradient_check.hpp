// SPDX-License-Identifier: Apache-2.0
// lamina/plan/loop_gradient_check.hpp - finds gradients that a plan cannot compute through a loop.
#pragma once

#include <lamina/core/config.hpp>

#include <utility>

#include <lamina/core/compile_time/same_address.hpp>
#include <lamina/core/messages/check.hpp>
#include <lamina/plan/plan.hpp>
#include <lamina/program/names.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Whether program P needs the gradient of a variable that a loop carries and whose rows differ
/// from iteration to iteration; `name` is the name of this variable. Such a gradient cannot be
/// computed, because a loop keeps the values of an iteration with the rows at the start of the
/// iteration, not at its end (plan/memory.hpp).
template <program_type P>
struct loop_gradient_check {
  static constexpr int find() {
    constexpr const lowered_program& l = plan<P>::lowered;
    for (int i = 0; P::desc.count.blocks > 1 && i < l.count.instructions; ++i)
      if (same_address(l.instructions[i].schema, &schema_of<operators::rows_hand_over>()) &&
          (P::desc.operators[l.instructions[i].op].role == op_role::backward ||
           P::desc.operators[l.instructions[i].op].role == op_role::gradient_value))
        return P::desc.variables[l.operands[l.instructions[i].inputs].id].of;
    return -1;
  }
  static constexpr int variable = find();
  static constexpr bool found = variable >= 0;

  static constexpr int length = found ? name_length(P::desc, found ? variable : 0) : 0;
  struct text_type {
    char of[bound(length + 1)];
  };
  static constexpr text_type make_text() {
    text_type r{};
    name_writer w{r.of};
    if (found) write_name(P::desc, variable, w);
    return r;
  }
  static constexpr text_type text = make_text();
  template <int... Index>
  static auto letters(std::integer_sequence<int, Index...>) -> named<text.of[Index]...>;
  /// The name as a type with one template argument per letter, so that the compiler's error message
  /// shows it.
  using name = decltype(letters(std::make_integer_sequence<int, length>{}));
};

}}  // namespace lamina
