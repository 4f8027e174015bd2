// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/training_program.hpp - makes the program of a training step by adding gradients
// and updates to a program.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/optimizer/update_operator.hpp>
#include <lamina/transform/append_backward.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

template <class Opt, int S>
inline constexpr auto accumulator_suffix = [] {
  constexpr const char* name = Opt::states[S];
  constexpr std::size_t n = length(name);
  text_buffer<n + 3> b{};
  b.text[0] = '_';
  for (std::size_t i = 0; i < n; ++i) b.text[1 + i] = name[i];
  b.text[1 + n] = '_';
  return b;
}();
template <class Opt, int... S>
constexpr const char* suffix_at(int s, std::integer_sequence<int, S...>) {
  const char* suffixes[] = {accumulator_suffix<Opt, S>.text..., ""};
  return suffixes[s];
}
/// Returns the suffix of the name of accumulator s, such as "_moment1_". As in Fluid, the whole
/// name is, for example, <parameter>_moment1_0.
template <class Opt>
constexpr const char* update_suffix(int s) {
  return suffix_at<Opt>(s, std::make_integer_sequence<int, update_operator<Opt>::states>{});
}

/// Returns the number of accumulators of a parameter that already have this suffix, because another
/// optimizer of the program has states with the same names.
constexpr int accumulators_called(const program_builder& b, int param, std::string_view suffix) {
  int n = 0;
  for (int v = 0; v < b.variables.count; ++v) {
    const variable_desc& d = b.variables.items[v];
    n += d.kind == variable_kind::accumulator && d.of == param && suffix == d.suffix ? 1 : 0;
  }
  return n;
}

/// The variables that updates read: the learning rate, and by parameter the factor of its gradient;
/// each is -1 if a training loop sets the value instead. `first_index` is the index of the first
/// accumulator that add_updates adds.
struct given_numbers {
  int learning_rate;
  const int* scale;
  int first_index;
};
/// Appends the updates of the trainable parameters with a gradient, in the order of the parameters.
/// `gradient[i]` is the variable with the gradient of parameter i. numbers(i, rows) records the
/// attributes of the update of parameter i and returns their position, or -1 if a training loop
/// sets them; `rows` says that the gradient is sparse (selected rows).
template <class Opt, bool Given = false, class Gradients, class Numbers>
constexpr void add_updates(program_builder& b, const Gradients& gradient, const Numbers& numbers,
                           const given_numbers& given = {-1, nullptr, 0}) {
  const op_role before = b.role;
  b.role = op_role::optimize;
  constexpr int states = update_operator<Opt>::states;
  for (int i = 0; i < b.parameters.count; ++i) {
    const int param = b.parameters.items[i].variable;
    if (gradient[i] < 0 || !b.parameters.items[i].trainable) continue;
    const variable_desc d = b.variables.items[param];
    const int at = b.arguments.count;
    b.argument(param);
    b.argument(gradient[i]);
    const int first = b.variables.count;
    for (int s = 0; s < states; ++s)
      b.argument(b.variables.push(
          {-1, param, update_suffix<Opt>(s),
           given.first_index > 0 ? accumulators_called(b, param, update_suffix<Opt>(s)) : 0, d.dims,
           d.rank, d.rows, given.first_index + i * states + s, 0, d.type,
           variable_kind::accumulator, true, true}));
    if constexpr (Given) {
      b.argument(given.learning_rate);
      b.argument(given.scale[i]);
    }
    const int outputs = b.arguments.count;
    b.argument(param);
    for (int s = 0; s < states; ++s) b.argument(first + s);
    const bool rows = b.variables.items[gradient[i]].kind == variable_kind::selected_rows;
    b.operators.push({rows ? &schema_of<rows_update_operator<Opt, Given>>()
                           : &schema_of<update_operator<Opt, Given>>(),
                      at, outputs, b.arguments.count, numbers(i, rows), b.current_block, b.role});
  }
  b.role = before;
}

/// Sets gradient[i] to the variable with the total gradient of a cost in `block` with respect to
/// parameter i, or to -1. Only the variables [first, variables) are searched.
template <class Program, class Gradients>
constexpr void find_gradients(const Program& p, int first, int variables, int parameters, int block,
                              Gradients& gradient) {
  for (int i = 0; i < parameters; ++i) gradient[i] = -1;
  for (int v = first; v < variables; ++v) {
    const variable_desc d = p.variables[v];
    if ((d.kind == variable_kind::gradient || d.kind == variable_kind::selected_rows) &&
        d.number < 0 && d.block == block && p.variables[d.of].kind == variable_kind::parameter)
      gradient[p.variables[d.of].index] = v;
  }
}

/// Whether the total gradient of any parameter is sparse (selected_rows).
template <class Program>
constexpr bool has_rows_gradient(const Program& p) {
  for (int v = 0; v < p.count.variables; ++v)
    if (p.variables[v].kind == variable_kind::selected_rows && p.variables[v].number < 0)
      return true;
  return false;
}

template <class Opt>
constexpr void make_training(program_builder& b) {
  int gradient[bound(program_limits.parameters)];
  find_gradients(b, 0, b.variables.count, b.parameters.count, 0, gradient);
  add_updates<Opt>(b, gradient, [](int, bool) { return -1; });
}

}  // namespace detail

/// Program P with the gradients of its cost and the updates of Opt. In one program, the update of a
/// weight can be fused with the product that computes its gradient. Fluid: Optimizer.minimize.
template <program_type P, class Opt>
struct training_program : program_base<training_program<P, Opt>> {
  using missing = second_gradient_check<with_backward<P>>;
  static constexpr bool exists = !missing::found || is_faulty<P>;
  static_assert(check<exists, typename missing::name>,
                "lamina: gradients: the gradient of this operator has itself no gradient");
  using result = typename P::result;
  static constexpr program_desc desc =
      changed<with_backward<P>::desc, &detail::make_training<Opt>>();
};

/// Whether an optimizer supports all gradients of a program, that is, also sparse gradients if
/// there are any.
template <program_type P, class Opt>
inline constexpr bool accepts_gradients =
    optimizer::traits<Opt>::accepts_rows || !detail::has_rows_gradient(with_backward<P>::desc);

/// Whether the program overwrites no variable before the program's gradients have read it.
template <program_type P>
inline constexpr bool keeps_operands =
    with_backward<P>::desc.fault.kind != fault_kind::stored_too_early;

namespace transform {

/// Makes the program that an optimizer's `train` runs for each mini-batch: gradients of the cost
/// and, for every trainable parameter, the optimizer's update.
template <program_type P, optimizer::optimizer_type Opt>
constexpr training_program<P, Opt> minimize(P, const Opt&) {
  static_assert(check<accepts_gradients<P, Opt>, gets_type<Opt>>,
                "lamina: train: an embedding with is_sparse has gradients of rows, which sgd, "
                "momentum, adagrad, adam, rmsprop and lamb take");
  return {};
}

}  // namespace transform
}}  // namespace lamina
