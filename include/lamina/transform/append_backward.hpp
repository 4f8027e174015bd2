// SPDX-License-Identifier: Apache-2.0
// lamina/transform/append_backward.hpp - adds the gradients of the cost to a program, and finds
// gradient operators that have no gradient. Fluid: append_backward.
#pragma once

#include <lamina/core/config.hpp>

#include <utility>

#include <lamina/operators/fill/definition.hpp>
#include <lamina/program/program.hpp>
#include <lamina/transform/block_gradients.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// Appends the gradient operators of the cost, in reverse order of the operators. Variables of
/// blocks outside of the cost's block, except parameters, count as constants.
template <bool Data>
constexpr void add_gradients(program_builder& b) {
  if (b.cost < 0) return;
  const int variables = b.variables.count;
  const int operators = b.operators.count;
  bool wanted[gradient_state::capacity];
  int next[gradient_state::capacity];
  gradient_state state = new_gradient_state(variables, wanted, next, 0);
  mark_wanted(b, wanted, Data);
  b.gradients = &state;
  const op_role before = b.role;
  const int block_before = b.current_block;
  const int root = b.variables.items[b.cost].block;
  b.current_block = root;

  b.role = op_role::loss_gradient;
  const int seed = partial_gradient(b, b.cost);
  if (seed >= 0) {
    const int one[] = {1};
    const attribute_value shape = b.integer_list(one, 1);
    const double type = static_cast<double>(static_cast<int>(b.variables.items[seed].type));
    const int at = b.attribute_list(shape, type, 1.0, false);
    const int argument = b.arguments.count;
    b.argument(seed);
    b.operators.push({&schema_of<operators::fill_constant>(), argument, argument, argument + 1, at,
                      root, b.role});
  }
  b.role = op_role::backward;
  block_gradients blocks(b, operators);
  blocks.sweep(root, operators);
  for (int i = 0; i < b.parameters.count; ++i) gradient_variable(b, b.parameters.items[i].variable);
  if (Data)
    for (int i = 0; i < b.data.count; ++i) gradient_variable(b, b.data.items[i]);
  blocks.insert_copies();

  b.role = before;
  b.current_block = block_before;
  b.gradients = nullptr;
}

}  // namespace detail

/// Program P with the gradient operators of its cost; with `Data`, also for the data layers.
template <program_type P, bool Data = false>
struct with_backward : program_base<with_backward<P, Data>> {
  using result = typename P::result;
  static constexpr program_desc desc = changed<P::desc, &detail::add_gradients<Data>>();
};

/// `found` says whether the cost of program P depends on a gradient operator without a gradient,
/// and `name` is the name of this operator. P must contain the gradients of its cost, because
/// append_backward stores the fault that is read here.
template <program_type P>
struct second_gradient_check {
  static constexpr bool found = P::desc.fault.kind == fault_kind::second_gradient;
  template <int... Index>
  static auto letters(std::integer_sequence<int, Index...>)
      -> named<P::desc.characters[P::desc.fault.name + Index]...>;
  /// The operator's name as a type with one template argument per letter, so that the compiler's
  /// error message shows it.
  using name = decltype(letters(std::make_integer_sequence < int,
                                found ? P::desc.fault.name_length : 0 > {}));
};

namespace transform {

/// Appends the gradients of the cost with respect to every trainable parameter: Fluid's `*_grad`
/// operators, variables `<name>@GRAD`, and a `sum` for each variable that is used more than once.
template <program_type P>
constexpr with_backward<P> append_backward(P) {
  using missing = second_gradient_check<with_backward<P>>;
  constexpr bool exists = !missing::found || is_faulty<P>;
  static_assert(check<exists, typename missing::name>,
                "lamina: gradients: the gradient of this operator has itself no gradient");
  return {};
}

/// Does the same as append_backward, but also appends the gradients of the data layers of real
/// numbers. Fluid: calc_gradient.
template <program_type P>
constexpr with_backward<P, true> append_backward_to_data(P) {
  using missing = second_gradient_check<with_backward<P, true>>;
  constexpr bool exists = !missing::found || is_faulty<P>;
  static_assert(check<exists, typename missing::name>,
                "lamina: gradients: the gradient of this operator has itself no gradient");
  return {};
}

}  // namespace transform

}}  // namespace lamina
