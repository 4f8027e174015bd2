// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/minimize.hpp - gradients and updates inside a program that is recorded.
#pragma once

#include <lamina/optimizer/training_program.hpp>

namespace lamina {

namespace detail {

/// Whether the numbers of a step can be computed while a program is recorded.
template <class Opt, class = void>
inline constexpr bool has_constant_scalars = false;
template <class Opt>
inline constexpr bool has_constant_scalars<
    Opt, std::void_t<std::bool_constant<(optimizer::traits<Opt>::scalars(Opt{}, 0).size() > 0)>>> =
    true;

/// Appends the gradients of a cost, and one update a parameter, to the current block.
template <class Opt>
constexpr void minimize_inside(const Opt& opt, program_builder& b, int cost, int line) {
  using traits = optimizer::traits<Opt>;
  constexpr std::size_t scalars = static_cast<std::size_t>(traits::scalar_count);
  const auto scalar = traits::scalars(opt, 0);
  bool same = true;
  for (const int step : {1, 10, 1000, 1000000})
    for (std::size_t i = 0; i < scalars; ++i)
      same = same && traits::scalars(opt, step)[i] == scalar[i];
  for (int s = 0; s < traits::state_count; ++s) same = same && traits::initial_state(opt, s) == 0;
  if (!same) b.report(fault_kind::changing_numbers, line, {}, nullptr, 0, nullptr, 0);
  const int before = b.cost;
  b.cost = cost;
  add_gradients<false>(b);
  b.cost = before;
  int* gradient = new int[static_cast<unsigned>(b.parameters.count) + 1];
  find_gradients(b, b.variables.count, b.parameters.count, b.current_block, gradient);
  add_updates<Opt>(b, gradient, [&](int i, bool rows) {
    if (rows && !traits::takes_rows)
      b.report(fault_kind::rows_update, line, {}, nullptr, 0, nullptr, 0);
    const parameter_desc& d = b.parameters.items[i];
    const gradient_clip clip =
        optimizer::clip_in_force({d.clip, d.clip_low, d.clip_high}, traits::clip(opt));
    if (clip.kind == clip_kind::norm || clip.kind == clip_kind::global_norm)
      b.report(fault_kind::changing_numbers, line, {}, nullptr, 0, nullptr, 0);
    const optimizer::gradient_preparation prepare = optimizer::preparation_of(
        clip, optimizer::decay_in_force({d.regularizer, d.regularizer_coefficient},
                                        traits::regularization(opt)));
    const int at = b.attribute_list(scalar[0] * d.learning_rate, 1.0f, prepare.low, prepare.high,
                                    prepare.l1, prepare.l2);
    for (std::size_t k = 1; k < scalars; ++k) b.attribute_list(scalar[k]);
    if (rows) b.attribute_list(traits::lazy_mode(opt));
    return at;
  });
  delete[] gradient;
}

}  // namespace detail

namespace optimizer {

/// Records the gradients of a cost, one number of the current block, and the update of every
/// trainable parameter behind it: a training step as a part of a program, mostly in a loop that
/// reads mini-batches. The optimizer's numbers are the same in each step: a schedule, a limit on a
/// norm, or a correction that depends on the step (adam) needs a training loop outside.
/// Fluid: Optimizer.minimize.
template <class Opt, class T, class R, int... D>
constexpr auto minimize_with(const Opt& opt, const variable<T, R, D...>& cost, int line) {
  using found = variable<T, R, D...>;
  constexpr bool one = __is_same(found, variable<float, once, 1>);
  static_assert(check<one, expects_type<variable<float, once, 1>>, gets_type<found>>,
                "lamina: minimize: the cost is one number");
  constexpr bool constant = lamina::detail::has_constant_scalars<Opt>;
  static_assert(check<constant, gets_type<Opt>>,
                "lamina: minimize: inside of a program an optimizer's numbers are the same in "
                "each step");
  if constexpr (one && constant) lamina::detail::minimize_inside(opt, *cost.builder, cost.id, line);
}

}  // namespace optimizer
}  // namespace lamina
