// SPDX-License-Identifier: Apache-2.0
// lamina/transform/append_backward.hpp - program -> program with gradients. Fluid: append_backward.
#pragma once

#include <lamina/operators/elementwise.hpp>
#include <lamina/operators/fill.hpp>
#include <lamina/operators/gradient.hpp>
#include <lamina/operators/sum.hpp>
#include <lamina/program/program.hpp>

namespace lamina {

namespace detail {

/// Marks what a gradient is asked for: trainable parameters, with `data` the floating feeds too,
/// and every floating result that depends on one of them.
constexpr void mark_wanted(const program_builder& b, bool* wanted, bool data) {
  const int variables = b.variables.count;
  for (int v = 0; v < variables; ++v) wanted[v] = false;
  for (int i = 0; i < b.parameters.count; ++i)
    wanted[b.parameters.items[i].variable] = b.parameters.items[i].trainable;
  if (data)
    for (int i = 0; i < b.data.count; ++i)
      wanted[b.data.items[i]] = is_floating(b.variables.items[b.data.items[i]].type);
  for (int k = 0; k < b.operators.count; ++k) {
    const operator_desc& op = b.operators.items[k];
    if (op.schema->gradient == nullptr) continue;
    bool any = false;
    for (int s = 0, at = op.inputs; s < op.schema->input_count; ++s) {
      const int n = op.schema->inputs[s].duplicable ? b.arguments.items[at++] : 1;
      const bool through = (op.schema->differentiable >> s & 1u) != 0;
      for (int i = 0; i < n; ++i, ++at)
        any = any || (through && b.arguments.items[at] >= 0 && wanted[b.arguments.items[at]]);
    }
    if (!any) continue;
    for (int s = 0, at = op.outputs; s < op.schema->output_count; ++s) {
      const int n = op.schema->outputs[s].duplicable ? b.arguments.items[at++] : 1;
      for (int i = 0; i < n; ++i, ++at) {
        const int v = b.arguments.items[at];
        if (v >= 0 && is_floating(b.variables.items[v].type) && !b.variables.items[v].stop_gradient)
          wanted[v] = true;
      }
    }
  }
}

/// Appends the gradient operators of the cost, last operator first.
template <bool Data>
constexpr void add_gradients(program_builder& b) {
  if (b.cost < 0) return;
  const int variables = b.variables.count;
  const int operators = b.operators.count;
  gradient_state state;
  state.sum = &schema_of<sum>();
  state.zeros = &schema_of<fill_zeros_like>();
  state.forward_variables = variables;
  state.wanted = new bool[static_cast<unsigned>(variables)];
  state.first = new int[static_cast<unsigned>(variables)];
  state.partials = new int[static_cast<unsigned>(variables)];
  state.gradient = new int[static_cast<unsigned>(variables)];
  state.next.reserve(variables * 3);
  for (int v = 0; v < variables; ++v)
    state.first[v] = -1, state.partials[v] = 0, state.gradient[v] = -1;
  mark_wanted(b, state.wanted, Data);
  b.gradients = &state;
  const op_role before = b.role;

  b.role = op_role::loss_gradient;
  const int seed = partial_gradient(b, b.cost);
  if (seed >= 0) {
    const int one[] = {1};
    const attribute_value shape = b.integer_list(one, 1);
    const double type = static_cast<double>(static_cast<int>(b.variables.items[seed].type));
    const int at = b.attribute_list(shape, type, 1.0, false);
    const int argument = b.arguments.count;
    b.argument(seed);
    b.operators.push(
        {&schema_of<fill_constant>(), argument, argument, argument + 1, at, 0, b.role});
  }
  b.role = op_role::backward;
  for (int k = operators; k-- > 0;) {
    const operator_desc op = b.operators.items[k];
    if (op.schema->gradient != nullptr) op.schema->gradient(b, op);
  }
  for (int i = 0; i < b.parameters.count; ++i) gradient_variable(b, b.parameters.items[i].variable);
  if (Data)
    for (int i = 0; i < b.data.count; ++i) gradient_variable(b, b.data.items[i]);

  b.role = before;
  b.gradients = nullptr;
  delete[] state.wanted;
  delete[] state.first;
  delete[] state.partials;
  delete[] state.gradient;
}

}  // namespace detail

/// A program with the gradient operators of its cost; `Data` asks for those of the feeds as well.
template <program_type P, bool Data = false>
struct with_backward : program_base<with_backward<P, Data>> {
  using result = typename P::result;
  static constexpr program_desc desc = changed<P::desc, &detail::add_gradients<Data>>();
};

namespace transform {

/// Appends the gradients of the cost with respect to every trainable parameter: Fluid's `*_grad`
/// operators, variables `<name>@GRAD`, a `sum` where a variable is used more than once.
template <program_type P>
constexpr with_backward<P> append_backward(P) {
  return {};
}

/// As append_backward, with the gradients of floating feeds too (Fluid: calc_gradient).
template <program_type P>
constexpr with_backward<P, true> append_backward_to_data(P) {
  return {};
}

}  // namespace transform
}  // namespace lamina
