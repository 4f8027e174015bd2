// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/minimize.hpp - appends gradients and updates to the program that is being
// recorded.
#pragma once

#include <lamina/core/config.hpp>

#include <concepts>
#include <type_traits>

#include <lamina/operators/elementwise/binary/definition.hpp>
#include <lamina/optimizer/clip.hpp>
#include <lamina/optimizer/parameter_choice.hpp>
#include <lamina/optimizer/step_operators.hpp>
#include <lamina/optimizer/training_program.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// Whether an optimizer's learning rate may be a schedule.
template <class Opt>
inline constexpr bool has_schedule = false;
template <class Opt>
requires requires(Opt& opt) { opt.learning_rate; }
inline constexpr bool has_schedule<Opt> =
    std::same_as<decltype(Opt::learning_rate), optimizer::learning_rate>;

/// Returns the optimizer with another learning rate, if it has one.
template <class Opt>
constexpr Opt with_rate(Opt opt, float rate) {
  if constexpr (has_schedule<Opt>) opt.learning_rate = optimizer::learning_rate(rate);
  return opt;
}
template <class Opt>
constexpr optimizer::learning_rate rate_of(const Opt& opt) {
  if constexpr (has_schedule<Opt>)
    return opt.learning_rate;
  else
    return optimizer::learning_rate(0);
}

/// Whether the scalar arguments of a step, except for the learning rate, can be computed by the
/// compiler.
template <class Opt, class = void>
inline constexpr bool has_constant_scalars = false;
template <class Opt>
inline constexpr bool has_constant_scalars<
    Opt, std::void_t<std::bool_constant<(
             optimizer::traits<Opt>::scalars(with_rate(Opt{}, 0), 0).size() > 0)>>> = true;

/// An optimizer whose learning rate is corrected by powers of two numbers, such as adam.
template <class Opt>
concept has_powers = requires(const Opt& opt) {
  opt.powers();
};

/// Whether the scalar arguments of `update`, apart from the learning rate, are the same in each
/// step. If the learning rate changes, the first argument must be the learning rate itself.
template <class Opt>
constexpr bool numbers_stay(const Opt& opt) {
  using traits = optimizer::traits<Opt>;
  constexpr bool corrected = has_powers<Opt>;
  bool same = true;
  for (const float rate : {0.0f, 1.0f}) {
    if (corrected && rate != 0) continue;
    const Opt still = with_rate(opt, rate);
    const auto first = traits::scalars(still, 0);
    same = same && (optimizer::is_constant(rate_of(opt)) || first[0] == rate);
    for (const int step : {1, 10, 1000, 1000000}) {
      const auto later = traits::scalars(still, step);
      for (std::size_t i = 0; i < first.size(); ++i) same = same && later[i] == first[i];
    }
  }
  return same;
}

/// Appends the gradients and updates of one call of minimize to the recorded program.
template <class Opt>
class minimizer {
 public:
  constexpr minimizer(const Opt& opt, program_builder& b, int cost, int line)
      : opt_(opt), b_(b), cost_(cost), line_(line) {}

  /// Does the same as record(), but computes gradients and updates only for the parameters of
  /// `choice`.
  template <class Choice>
  constexpr void record_chosen(const Choice& choice) {
    const chosen_parameters chosen(b_, choice);
    record(&chosen);
  }

  constexpr void record(const chosen_parameters* chosen = nullptr) {
    if (const auto wrong = optimizer::fault_of_options(opt_); wrong.is_some()) {
      b_.report(fault_kind::option_range, line_, wrong.name, nullptr, 0, nullptr, 0);
      return;
    }
    // A custom schedule is an error, because a program cannot call the user's function. A factor is
    // an error, because no attribute of decayed_learning_rate represents it.
    const optimizer::learning_rate rate = rate_of(opt_);
    const bool given = rate.kind == optimizer::schedule_kind::variable;
    const bool recordable = rate.kind != optimizer::schedule_kind::custom && rate.factor == 1 &&
                            (!given || rate.warmup_steps == 0);
    if (!recordable || !numbers_stay(opt_)) {
      fault(fault_kind::changing_numbers);
      return;
    }
    if (b_.variables[cost_].block != b_.current_block) fault(fault_kind::cost_block);
    for (int v = 0; v < b_.variables.count; ++v)
      if (b_.variables[v].kind == variable_kind::accumulator && b_.variables[v].index >= first_)
        first_ = b_.variables[v].index + 1;
    const op_role role = b_.role;
    b_.role = op_role::optimize;
    if (given) require_rate(rate);
    if (has_powers<Opt> || !optimizer::is_constant(rate)) record_rate(rate);
    b_.role = role;
    const int before = b_.cost;
    const int known = b_.variables.count;  // gradients of other costs have smaller numbers
    b_.cost = cost_;
    add_gradients<false>(b_);
    b_.cost = before;
    const unsigned parameters = static_cast<unsigned>(b_.parameters.count) + 1;
    int* gradient = new int[parameters];
    int* scale = new int[parameters];
    find_gradients(b_, known, b_.variables.count, b_.parameters.count, b_.current_block, gradient);
    if (chosen != nullptr) chosen->report_idle(gradient, line_);
    b_.role = op_role::optimize;
    const bool limited = record_scales(gradient, scale);
    b_.role = role;
    const int begin = b_.variables.count;
    const auto numbers = [&](int i, bool rows) { return record_numbers(i, rows); };
    if (learning_rate_ >= 0 || limited)
      add_updates<Opt, true>(b_, gradient, numbers, {learning_rate_, scale, first_});
    else
      add_updates<Opt>(b_, gradient, numbers, {-1, nullptr, first_});
    for (int v = begin; v < b_.variables.count; ++v) record_first_value(v);
    delete[] gradient;
    delete[] scale;
  }

 private:
  using traits = optimizer::traits<Opt>;

  constexpr void fault(fault_kind kind) { b_.report(kind, line_, {}, nullptr, 0, nullptr, 0); }
  constexpr gradient_clip clip_of(int i) const {
    const parameter_desc& d = b_.parameters.items[i];
    return optimizer::clip_in_force({d.clip, d.clip_low, d.clip_high}, traits::clip(opt_));
  }
  /// Adds a variable with one element to the current block and returns it.
  constexpr int number(int name, dtype type) {
    const int v = b_.add_variable(name, "", -1, b_.shape(1), 1, once::domain, type);
    b_.variables[v].stop_gradient = true;
    return v;
  }
  /// Records the initial value of a persistent variable in the startup program.
  constexpr void begin_with(int v, double value) {
    const variable_desc d = b_.variables[v];
    const attribute_value shape = b_.integer_list(b_.dims.items + d.dims, d.rank);
    const int values =
        b_.attribute_list(shape, static_cast<double>(static_cast<int>(d.type)), value, false);
    const int at = b_.arguments.count;
    b_.argument(v);
    b_.startup.push(
        {&schema_of<operators::fill_constant>(), at, at, at + 1, values, 0, op_role::forward});
  }

  /// Reports a fault if the variable that is used as the learning rate belongs to another program
  /// or is not visible in this block.
  constexpr void require_rate(const optimizer::learning_rate& rate) {
    if (rate.builder != &b_)
      fault(fault_kind::foreign_variable);
    else
      require_visible(b_, rate.variable, line_);
  }
  /// Sets learning_rate_ to a variable with the learning rate of the current step. For a schedule,
  /// records the operators that count the steps and compute the rate from the count. For a rate
  /// that is a variable of the program, records the correction of the rate by powers of beta if the
  /// optimizer has one, and otherwise uses the variable itself.
  constexpr void record_rate(const optimizer::learning_rate& rate) {
    const bool given = rate.kind == optimizer::schedule_kind::variable;
    if (given && !has_powers<Opt>) {
      learning_rate_ = rate.variable;
      return;
    }
    float powers[2] = {0, 0};
    if constexpr (has_powers<Opt>) {
      const auto of = opt_.powers();
      powers[0] = of[0], powers[1] = of[1];
    }
    // A second optimizer in the program has a separate counter.
    const int before = b_.names.count;
    int name = b_.own_name("@LR_DECAY_COUNTER@");
    if (name < before) name = b_.layer_name("@LR_DECAY_COUNTER@", {});
    const int step = number(name, dtype::int64);
    b_.variables[step].persistable = true;
    b_.variables[step].block = 0;
    begin_with(step, -1);
    learning_rate_ = number(b_.layer_name("learning_rate", {}), dtype::float32);
    b_.add_operator(schema_of<operators::decayed_learning_rate>(), {step}, {learning_rate_, step},
                    optimizer::rate_attributes(b_, given ? optimizer::learning_rate(1.0f) : rate,
                                               powers[0], powers[1]));
    if (!given) return;
    const int correction = learning_rate_;
    learning_rate_ = number(b_.layer_name("learning_rate", {}), dtype::float32);
    b_.add_operator(schema_of<operators::elementwise_mul>(), {rate.variable, correction},
                    {learning_rate_});
  }

  /// Records the factors of gradients that are clipped by norm. `scale` receives, for each
  /// parameter, the variable with the factor, or -1. Returns whether any parameter has a factor.
  constexpr bool record_scales(const int* gradient, int* scale) {
    int shared = -1;
    float limit = -1;
    int* group = new int[static_cast<unsigned>(b_.parameters.count) + 1];
    int members = 0;
    bool any = false;
    for (int i = 0; i < b_.parameters.count; ++i) {
      const gradient_clip clip = clip_of(i);
      scale[i] = -1;
      if (gradient[i] < 0 || !optimizer::needs_norm(clip)) continue;
      any = true;
      if (clip.kind == clip_kind::norm) {
        scale[i] = number(b_.layer_name("gradient_scale", {}), dtype::float32);
        record_scale(gradient + i, 1, clip.high, false, scale[i]);
        continue;
      }
      if (members > 0 && clip.high != limit) fault(fault_kind::norm_limits);
      if (members == 0) shared = number(b_.layer_name("gradient_scale", {}), dtype::float32);
      limit = clip.high;
      group[members++] = gradient[i];
      scale[i] = shared;
    }
    if (members > 0) record_scale(group, members, limit, true, shared);
    delete[] group;
    return any;
  }
  constexpr void record_scale(const int* gradients, int n, float limit, bool global, int made) {
    operator_desc op = b_.begin(schema_of<operators::gradient_scale>());
    b_.list(gradients, n);
    op.outputs = b_.arguments.count;
    b_.argument(made);
    op.end = b_.arguments.count;
    op.attributes = b_.attribute_list(limit, global);
    b_.operators.push(op);
  }

  /// Records the attributes of the update of parameter i. `rows` says that its gradient is sparse
  /// (selected rows).
  constexpr int record_numbers(int i, bool rows) {
    if (rows && !traits::accepts_rows) fault(fault_kind::rows_update);
    const parameter_desc& d = b_.parameters.items[i];
    const optimizer::gradient_preparation prepare = optimizer::preparation_of(
        clip_of(i), optimizer::decay_in_force({d.regularizer, d.regularizer_coefficient},
                                              traits::regularization(opt_)));
    // If a variable has the learning rate, the operator multiplies it by this attribute.
    auto scalar =
        learning_rate_ >= 0 ? traits::scalars(with_rate(opt_, 0), 0) : traits::scalars(opt_, 0);
    if (learning_rate_ >= 0) scalar[0] = 1;
    const int at = b_.attribute_list(scalar[0] * d.learning_rate, 1.0f, prepare.low, prepare.high,
                                     prepare.l1, prepare.l2);
    for (std::size_t k = 1; k < scalar.size(); ++k) b_.attribute_list(scalar[k]);
    if (rows) b_.attribute_list(traits::lazy_mode(opt_));
    return at;
  }

  /// Records the initial value of an accumulator that does not start at 0.
  constexpr void record_first_value(int v) {
    if (traits::state_count == 0 || b_.variables[v].kind != variable_kind::accumulator) return;
    const float first = traits::initial_state(
        opt_, (b_.variables[v].index - first_) % at_least_one(traits::state_count));
    if (first != 0) begin_with(v, first);
  }

  const Opt& opt_;
  program_builder& b_;
  int cost_, line_;
  int first_ = 0;           // the index of the first accumulator
  int learning_rate_ = -1;  // the rate's variable if it changes between steps, else -1
};

}  // namespace detail

namespace optimizer {

/// Records the gradients of a cost, which must be a scalar of the current block, and then the
/// update of every trainable parameter. If there is a `choice`, only the parameters that it selects
/// are updated; a choice is only, prefix, except, a handle of create_parameter or a tuple of such
/// handles. So the program contains a training step, usually in a loop that reads mini-batches. The
/// values that change from step to step are computed by operators (optimizer/step_operators.hpp):
/// the learning rate of a schedule, its correction (as in adam), and the factors of gradients that
/// are clipped by norm. The variable @LR_DECAY_COUNTER@ counts the steps. The learning rate may be
/// any variable of the program with one float element: `sgd{.learning_rate = rate}`. The other
/// scalar arguments of a custom optimizer must be the same in each step; otherwise the compiler
/// reports an error. The learning rate may be corrected by powers of two numbers, which the
/// optimizer's member powers() returns: `std::array<float, 2> powers() const`. Fluid:
/// Optimizer.minimize.
template <class Opt, class T, class R, int... D, class... Choice>
constexpr auto minimize_with(const Opt& opt, const variable<T, R, D...>& cost, int line,
                             const Choice&... choice) {
  using found = variable<T, R, D...>;
  constexpr bool one =
      __is_same(found, variable<float, once, 1>) || __is_same(found, variable<double, once, 1>);
  static_assert(check<one, expects_type<variable<float, once, 1>>, gets_type<found>>,
                "lamina: minimize: the cost is one number");
  constexpr bool constant = lamina::detail::has_constant_scalars<Opt>;
  static_assert(check<constant, gets_type<Opt>>,
                "lamina: minimize: inside of a program an optimizer's own numbers are the same in "
                "each step");
  constexpr bool chooses = (is_parameter_choice<Choice> && ...);
  static_assert(
      check<chooses, gets_type<Choice...>>,
      "lamina: minimize: expected only<...>, prefix<...>, except<...> or parameters after the "
      "cost");
  if constexpr (one && constant && chooses) {
    lamina::detail::minimizer<Opt> recorder(opt, *cost.builder, cost.id, line);
    if constexpr (sizeof...(Choice) == 0)
      recorder.record();
    else
      recorder.record_chosen(choice...);
  }
}

/// Reports an argument that is not a variable, such as a model, with a one-line error.
template <class Opt, class Other, class... Choice>
constexpr auto minimize_with(const Opt&, const Other&, int, const Choice&...) {
  static_assert(
      never<Other>,
      "lamina: minimize: expected the cost, a variable of the program that is recorded; a "
      "model is trained by optimizer.train(model, reader)");
}

}  // namespace optimizer
}}  // namespace lamina
