// SPDX-License-Identifier: Apache-2.0
// lamina/transform/clone_for_test.hpp - makes a program for evaluation from a training program.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/program/program.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// Sets the attribute is_test wherever an operator has it.
constexpr void set_test_mode(program_builder& b) {
  int kept = 0;
  for (int k = 0; k < b.operators.count; ++k) {
    operator_desc op = b.operators[k];
    if (op.role != op_role::forward && op.role != op_role::loss &&
        op.role != op_role::gradient_value)
      continue;
    for (int a = 0; a < op.schema->attribute_count; ++a) {
      if (std::string_view(op.schema->attributes[a].name) != "is_test") continue;
      const int at = b.attributes.count;
      for (int i = 0; i < op.schema->attribute_count; ++i) {
        const attribute_value v = op.attributes >= 0
                                      ? b.attributes[op.attributes + i]
                                      : attribute_value{op.schema->attributes[i].number, 0, 0};
        b.attributes.push(i == a ? attribute_value{1, 0, 0} : v);
      }
      op.attributes = at;
    }
    b.operators[kept++] = op;
  }
  b.operators.count = kept;
  b.is_test = true;
}

}  // namespace detail

/// A copy of a program in test mode.
template <program_type P>
struct for_test : program_base<for_test<P>> {
  using result = typename P::result;
  static constexpr program_desc desc = changed<P::desc, &detail::set_test_mode>();
};

namespace transform {

/// Returns the program without gradient and update operators, and with attribute is_test set in the
/// operators that have it, such as dropout and batch_norm. Fluid: Program.clone(for_test=True).
template <program_type P>
constexpr for_test<P> clone_for_test(P) {
  return {};
}

}  // namespace transform
}}  // namespace lamina
