// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/rule.hpp - the base class of every optimizer, and the traits by which engines
// use an optimizer.
//
//   struct sign_sgd : lamina::optimizer::rule<sign_sgd> {
//     lamina::optimizer::learning_rate learning_rate = 0.01f;
//     template <class T> LAMINA_FN static void update(T& param, T grad, T lr) {
//       param -= lr * lamina::math::sign(grad);
//     }
//   };
//
// is a complete optimizer. An optimizer may also have these members: `states`, the names of its
// accumulators, which `update` takes by reference after the gradient; `scalars(step)`, the scalar
// arguments of a step, which are the last arguments of `update`; `own_fault()`, which finds options
// outside of their range; `initial_state`, `type`, `regularization`, `clip` and `selected_rows`,
// which are explained below.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include <lamina/core/messages/check.hpp>
#include <lamina/optimizer/learning_rate.hpp>
#include <lamina/optimizer/option_check.hpp>
#include <lamina/optimizer/train_options.hpp>
#include <lamina/program/param_attr.hpp>

// For g++ an empty base in `adam{.learning_rate = 1e-3f}` is a member without initialiser. g++
// warns about this at the user's line, so the pragma must stay in effect after this header.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

template <class Opt>
struct traits;

/// How an optimizer handles a sparse gradient (selected rows), such as that of an embedding with
/// is_sparse.
enum class rows_rule : std::uint8_t {
  none,     // the optimizer does not support sparse gradients
  touched,  // updates only the rows that the gradient contains; a gradient of 0 would not change
            // the other rows
  all       // updates every row; in rows that it does not contain, the gradient is 0
};

/// Takes the place of a reader in a call of `train` without one.
struct no_reader {};

namespace detail {
/// Whether an optimizer has a valid update. If it does not, a compile-time error gives the reason.
template <class Opt>
constexpr bool is_complete() {
  static_assert(traits<Opt>::complete,
                "lamina: an optimizer needs a static update(T& param, T grad, T& state..., T "
                "scalar...) and a member learning_rate or scalars(step)");
  return traits<Opt>::complete;
}
}  // namespace detail

/// The base class of an optimizer. It has no data members, so that designated initialisers such as
/// adam{.learning_rate = 1e-3f} work. Derive an optimizer from rule<itself>, not from an existing
/// optimizer: `train` would use the existing optimizer's update.
template <class Derived>
struct rule {
  static constexpr const char* type = "custom";               // type of the Fluid operator
  static constexpr std::array<const char*, 0> states{};       // names of the accumulators
  static constexpr std::array<const char*, 0> state_slots{};  // their slots in the Fluid operator;
                                                              // none: as `states`
  static constexpr std::array<const char*, 0> attributes{};   // names of the operator's attributes
                                                              // for the scalars after the first
  static constexpr rows_rule selected_rows = rows_rule::none;
  // The index of the scalar that a parameter's own l2_decay replaces; 0: the decay is a part of the
  // gradient.
  static constexpr int decay_scalar = 0;

  /// Returns the initial value of an accumulator.
  constexpr float initial_state(int /*state*/) const { return 0; }

  /// Records the gradients of a cost and then the updates, inside a program: see
  /// optimizer/minimize.hpp. The return type is auto, so that the compiler reports a mistake at the
  /// user's line.
  template <class Cost>
  constexpr auto minimize(const Cost& cost, int line = __builtin_LINE()) const {
    return minimize_with(static_cast<const Derived&>(*this), cost, line);
  }
  /// Does the same, but updates only some parameters: `minimize(cost, lamina::only<"w_0",
  /// "fc_1">)`, `minimize(cost, lamina::prefix<"d_">)`, `minimize(cost, lamina::except<"words">)`,
  /// or handles of parameters, `minimize(cost, std::tuple{w, b})`.
  template <class Cost, class Choice>
  requires(!__is_same(Choice, int)) constexpr auto minimize(const Cost& cost, const Choice& choice,
                                                            int line = __builtin_LINE()) const {
    return minimize_with(static_cast<const Derived&>(*this), cost, line, choice);
  }

  // The parameters of each `train` are on one line, because clang's errors show these lines.
  // clang-format off
  /// Trains `model` on the mini-batches of `reader`; the loop is in lamina/train. This overload is
  /// for one thread of one process with one update per mini-batch. It is chosen if the braces name
  /// only members of serial_options, or are omitted.
  template <class M, class R> decltype(auto)
  train(M& model, R&& reader, const dependent<serial_options, M>& options = {}) const {
    if constexpr (detail::is_complete<Derived>())
      return train_with(static_cast<const Derived&>(*this), model, std::forward<R>(reader),
                        options);
  }
  /// Trains with all options. A place whose type selects an arithmetic is given after the options
  /// and overrides the option `place`: `adam.train(model, reader, {.passes = 20},
  /// lamina::cuda::place{0, lamina::cuda::tf32})`.
  template <class M, class R, class... At> decltype(auto)
  train(M& model, R&& reader, const dependent<train_options, M>& options, const At&... at) const {
    constexpr bool places = sizeof...(At) < 2 && (typed_place<At> && ...);
    static_assert(check<places, gets_type<At...>>,
                  "lamina: train: expected a place after the options, as lamina::cuda::place{0, "
                  "lamina::cuda::tf32}");
    if constexpr (detail::is_complete<Derived>() && places)
      return train_with(static_cast<const Derived&>(*this), model, std::forward<R>(reader), options,
                        at...);
  }
  /// Reports a call without a reader with a short error.
  template <class M>
  decltype(auto) train(M& model) const {
    if constexpr (detail::is_complete<Derived>())
      return train_with(static_cast<const Derived&>(*this), model, no_reader{}, serial_options{});
  }
#ifdef LAMINA_NAMES_OPTIONS
  no_match<train_options> train(anything, anything, ...) const = delete;  // {.passes = 20}
#endif
  // clang-format on
};

namespace detail {

template <class Opt>
concept has_scalars = requires(const Opt& opt) {
  opt.scalars(std::int64_t{});
};
template <class Opt>
concept has_learning_rate = requires(const Opt& opt) {
  static_cast<learning_rate>(opt.learning_rate);
};

template <class Opt>
constexpr auto scalars_of(const Opt& opt, std::int64_t step) {
  if constexpr (has_scalars<Opt>)
    return opt.scalars(step);
  else if constexpr (has_learning_rate<Opt>)
    return std::array<float, 1>{static_cast<learning_rate>(opt.learning_rate).at(step)};
  else
    return std::array<float, 0>{};
}

template <std::size_t, class T>
using repeated = T;

template <class Opt, std::size_t... S, std::size_t... C>
constexpr bool can_update(std::index_sequence<S...>, std::index_sequence<C...>) {
  return requires(float& param, float grad, repeated<S, float&>... state,
                  repeated<C, float>... scalar) {
    Opt::update(param, grad, state..., scalar...);
  };
}
template <class Opt, std::size_t... S, std::size_t... C>
constexpr bool can_norm(std::index_sequence<S...>, std::index_sequence<C...>) {
  return requires(float param, repeated<S, float>... state, repeated<C, float>... scalar) {
    Opt::normed(param, param, state..., scalar...);
  };
}

}  // namespace detail

/// The members of an optimizer that engines use, with defaults for those that the optimizer omits.
template <class Opt>
struct traits {
  /// The number of accumulators. Each accumulator has one element per element of the parameter.
  static constexpr int state_count = static_cast<int>(Opt::states.size());
  /// The number of scalar arguments of a step; the first argument is the learning rate.
  static constexpr int scalar_count = static_cast<int>(
      std::tuple_size_v<decltype(detail::scalars_of(std::declval<const Opt&>(), 0))>);

 private:
  using state_index = std::make_index_sequence<static_cast<std::size_t>(state_count)>;
  using scalar_index = std::make_index_sequence<static_cast<std::size_t>(scalar_count)>;

 public:
  /// Whether `update` takes two more arguments: the L2 norms of the parameter and of the values
  /// that `normed` returns.
  static constexpr bool has_norms = detail::can_norm<Opt>(state_index{}, scalar_index{});
  /// Whether Opt has an update that accepts its states and scalars; it must have at least one
  /// scalar, the learning rate.
  static constexpr bool complete =
      scalar_count > 0 &&
      detail::can_update<Opt>(
          state_index{}, std::make_index_sequence<scalar_index::size() + (has_norms ? 2 : 0)>{});
  /// The type of the Fluid operator.
  static constexpr const char* type = Opt::type;

  /// Returns the initial value of an accumulator.
  static constexpr float initial_state(const Opt& opt, int state) {
    return opt.initial_state(state);
  }
  /// Returns the scalar arguments of a step. The engine multiplies the first argument, the learning
  /// rate, by the parameter's own factor.
  static constexpr std::array<float, static_cast<std::size_t>(scalar_count)> scalars(
      const Opt& opt, std::int64_t step) {
    return detail::scalars_of(opt, step);
  }
  /// Whether Opt supports sparse gradients (selected rows).
  static constexpr bool accepts_rows = Opt::selected_rows != rows_rule::none;
  /// Whether Opt has a member `lazy_mode`, which chooses between updating the touched rows and
  /// updating all rows.
  static constexpr bool has_lazy_mode = requires(const Opt& opt) { bool(opt.lazy_mode); };
  static constexpr bool lazy_mode(const Opt& opt) {
    if constexpr (has_lazy_mode)
      return opt.lazy_mode;
    else
      return Opt::selected_rows == rows_rule::touched;
  }
  /// Returns the decay for parameters without their own decay.
  static constexpr lamina::regularizer regularization(const Opt& opt) {
    if constexpr (requires { opt.regularization.kind; })
      return opt.regularization;
    else
      return {};
  }
  /// Returns the clip for parameters without their own clip.
  static constexpr gradient_clip clip(const Opt& opt) {
    if constexpr (requires { opt.clip.kind; })
      return opt.clip;
    else
      return {};
  }

  /// Calls Opt::update with the states and scalars in arrays. If has_norms, `norm` points to the
  /// two norms.
  template <class T>
  LAMINA_INLINE LAMINA_NUMBER_FN static void update(T& param, T grad, T* state, const T* scalar,
                                                    const T* norm = nullptr) {
    spread(param, grad, state, scalar, norm, state_index{}, scalar_index{});
  }
  /// Calls Opt::normed with the states and scalars in arrays. Returns its result for one element,
  /// and changes no state; the update needs the norm of these results over all elements.
  template <class T>
  LAMINA_INLINE LAMINA_NUMBER_FN static T normed(T param, T grad, const T* state, const T* scalar) {
    static_assert(has_norms, "lamina: this optimizer needs no norms");
    return spread_normed(param, grad, state, scalar, state_index{}, scalar_index{});
  }

 private:
  template <class T, std::size_t... S, std::size_t... C>
  LAMINA_INLINE LAMINA_NUMBER_FN static void spread(T& param, T grad, [[maybe_unused]] T* state,
                                                    const T* scalar, [[maybe_unused]] const T* norm,
                                                    std::index_sequence<S...>,
                                                    std::index_sequence<C...>) {
    if constexpr (has_norms)
      Opt::update(param, grad, state[S]..., scalar[C]..., norm[0], norm[1]);
    else
      Opt::update(param, grad, state[S]..., scalar[C]...);
  }
  template <class T, std::size_t... S, std::size_t... C>
  LAMINA_INLINE LAMINA_NUMBER_FN static T spread_normed(T param, T grad,
                                                        [[maybe_unused]] const T* state,
                                                        const T* scalar, std::index_sequence<S...>,
                                                        std::index_sequence<C...>) {
    return Opt::normed(param, grad, state[S]..., scalar[C]...);
  }
};

/// Whether Opt is a complete optimizer: it derives from rule<Opt> and has a learning rate and an
/// update that accepts its states and scalars.
template <class Opt>
concept optimizer_type = std::derived_from<Opt, rule<Opt>> && traits<Opt>::complete;

}}}  // namespace lamina::optimizer
