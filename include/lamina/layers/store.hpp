// SPDX-License-Identifier: Apache-2.0
// lamina/layers/store.hpp - writes a value to a variable that keeps it.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/layer_helper.hpp>
#include <lamina/operators/elementwise/assign/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Writes the value of x to `to`, a global variable (create_global_var) or a parameter
/// (create_parameter). Operators that are recorded later read the new value, and so does the next
/// run. (`assign(x, into)` does not: it makes the handle `into` mean another variable.) No gradient
/// flows from `to` to x. In test mode, programs do not contain this operator, so that evaluators do
/// not change a model. Fluid: assign(output=).
template <class T, class R, int... D>
constexpr void store(variable<T, R, D...> x, const variable<T, R, D...>& to,
                     int line = __builtin_LINE()) {
  program_builder& b = *x.builder;
  require_one_program(x, to, line);
  if (b.variables[to.id].kind != variable_kind::parameter) {
    lamina::detail::report_variable(b, fault_kind::stored_variable, to.id, line);
    return;
  }
  const op_role role = b.role;
  b.role = op_role::optimize;
  b.add_operator(schema_of<operators::assign_variable>(), {x.id}, {to.id});
  b.role = role;
}

/// Refuses a value whose type differs from the type of the variable, with a one-line error.
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto store(const variable<T, R, D...>&, const variable<U, S, E...>&,
                     int = __builtin_LINE()) {
  static_assert(
      check<never<T>, expects_type<variable<U, S, E...>>, gets_type<variable<T, R, D...>>>,
      "lamina: store: a variable keeps its element type, rows and dimensions");
}

}}}  // namespace lamina::layer
