// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/update_operator.hpp - makes an operator of an optimizer's equation.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <limits>

#include <lamina/operators/operator_definition.hpp>
#include <lamina/optimizer/prepare.hpp>
#include <lamina/optimizer/rule.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// The output slot of an accumulator, such as "moment1Out".
template <const auto* Names, std::size_t Index>
inline constexpr auto out_slot = [] {
  constexpr std::size_t n = length((*Names)[Index]);
  text_buffer<n + 4> b{};
  for (std::size_t i = 0; i < n; ++i) b.text[i] = (*Names)[Index][i];
  for (std::size_t i = 0; i < 4; ++i) b.text[n + i] = "Out"[i];
  return b;
}();

template <class Opt>
struct update_slots {
  /// Fluid's slot names if the optimizer states them, otherwise the names of its accumulators.
  static constexpr auto names = [] {
    if constexpr (Opt::state_slots.size() == Opt::states.size())
      return Opt::state_slots;
    else
      return Opt::states;
  }();
  template <bool Given, std::size_t... Index>
  static constexpr auto inputs(std::index_sequence<Index...>) {
    if constexpr (Given)
      return std::array<slot_desc, 4 + sizeof...(Index)>{{{"Param"},
                                                          {"Grad"},
                                                          {names[Index]}...,
                                                          {"StepLearningRate", false, true},
                                                          {"GradientScale", false, true}}};
    else
      return std::array<slot_desc, 2 + sizeof...(Index)>{{{"Param"}, {"Grad"}, {names[Index]}...}};
  }
  template <std::size_t... Index>
  static constexpr auto outputs(std::index_sequence<Index...>) {
    return std::array<slot_desc, 1 + sizeof...(Index)>{
        {{"ParamOut"}, {out_slot<&names, Index>.text}...}};
  }
  static constexpr auto attributes = [] {
    constexpr int scalars = optimizer::traits<Opt>::scalar_count;
    std::array<attribute_desc, bound(5 + scalars)> a{};
    constexpr double infinity = std::numeric_limits<float>::infinity();
    a[0] = {"learning_rate", attribute_type::real, 0};
    a[1] = {"gradient_scale", attribute_type::real, 1};
    a[2] = {"clip_low", attribute_type::real, -infinity};
    a[3] = {"clip_high", attribute_type::real, infinity};
    a[4] = {"l1_decay", attribute_type::real, 0};
    a[5] = {"l2_decay", attribute_type::real, 0};
    for (int i = 1; i < scalars; ++i) {
      const bool named = static_cast<int>(Opt::attributes.size()) == scalars - 1;
      a[static_cast<std::size_t>(5 + i)] = {
          named ? Opt::attributes[static_cast<std::size_t>(named ? i - 1 : 0)] : "scalar",
          attribute_type::real, 0};
    }
    return a;
  }();
};

}  // namespace detail

/// Updates one parameter in place: clips the gradient, adds the decay, and applies Opt's equation.
/// Fluid has separate operators for clip and decay and keeps the learning rate in a variable. Here
/// the learning rate, the scale of the gradient, clip and decay are scalar attributes that the
/// training loop sets before each step. A program that contains its own training steps
/// (minimize.hpp) has no such loop. There, with `Given`, the operator reads the learning rate and
/// the scale of the gradient from variables, if the program computes them; it multiplies the
/// learning rate by the attribute.
template <class Opt, bool Given = false>
struct update_operator : operator_definition {
  using traits = optimizer::traits<Opt>;
  using state_index = std::make_index_sequence<static_cast<std::size_t>(traits::state_count)>;
  static constexpr const char* type = Opt::type;
  static constexpr auto kind = operator_kind::update;
  static constexpr bool knows_panels = traits::has_norms;
  static constexpr int states = traits::state_count;
  static constexpr auto inputs = detail::update_slots<Opt>::template inputs<Given>(state_index{});
  static constexpr auto outputs = detail::update_slots<Opt>::outputs(state_index{});
  static constexpr auto attributes = detail::update_slots<Opt>::attributes;
  /// The attributes are the learning rate, the five scalar arguments of prepared_gradient, and the
  /// optimizer's further scalars.
  static constexpr int preparation = 5;

  /// Returns the gradient after scale, clip and decay.
  template <class T>
  LAMINA_INLINE LAMINA_NUMBER_FN static T prepared(T param, T grad, const T* number) {
    return optimizer::prepared_gradient(grad, param, number[1], number[2], number[3], number[4],
                                        number[5]);
  }
  /// Whether `prepared` returns every gradient unchanged.
  template <class Real>
  static constexpr bool leaves_gradient(const Real* number) {
    return optimizer::leaves_gradient(number[1], number[2], number[3], number[4], number[5]);
  }
  /// Updates one element. `number` points to the attributes, and `norm` to the two norms if the
  /// optimizer needs them.
  template <class T>
  LAMINA_INLINE LAMINA_NUMBER_FN static void apply(T& param, T grad, T* state, const T* number,
                                                   const T* norm = nullptr) {
    apply_prepared(param, prepared(param, grad, number), state, number, norm);
  }
  /// Updates one element with a gradient that `prepared` has returned.
  template <class T>
  LAMINA_INLINE LAMINA_NUMBER_FN static void apply_prepared(T& param, T grad, T* state,
                                                            const T* number,
                                                            const T* norm = nullptr) {
    T scalar[traits::scalar_count];
    scalar[0] = number[0];
    for (int i = 1; i < traits::scalar_count; ++i) scalar[i] = number[preparation + i];
    traits::update(param, grad, state, scalar, norm);
  }
  /// Computes one output of the update for `count` elements; the reference executor calls it.
  /// argument[i] points to the elements of input i; the attributes follow the inputs.
  template <class T>
  requires(!traits::has_norms) static void evaluate(int output, std::int64_t count,
                                                    const T* const* argument, const int* stride,
                                                    T* out) {
    T number[attributes.size()];
    for (std::size_t a = 0; a < attributes.size(); ++a) number[a] = *argument[inputs.size() + a];
    if constexpr (Given) {
      // The stride of an absent argument is 0.
      if (stride[2 + states] != 0) number[0] *= *argument[2 + states];
      if (stride[3 + states] != 0) number[1] = *argument[3 + states];
    }
    for (std::int64_t i = 0; i < count; ++i) {
      T param = argument[0][i * stride[0]];
      T state[bound(states + 1)] = {};
      for (int s = 0; s < states; ++s) state[s] = argument[2 + s][i * stride[2 + s]];
      apply(param, argument[1][i * stride[1]], state, number);
      out[i] = output == 0 ? param : state[output - 1];
    }
  }
  /// Returns, for one element, the value whose norm the equation needs, computed from the prepared
  /// gradient.
  template <class T>
  LAMINA_INLINE LAMINA_NUMBER_FN static T normed(T param, T grad, const T* state, const T* number) {
    T scalar[traits::scalar_count];
    scalar[0] = number[0];
    for (int i = 1; i < traits::scalar_count; ++i) scalar[i] = number[preparation + i];
    return traits::normed(param, prepared(param, grad, number), state, scalar);
  }
};

/// Updates one parameter with a sparse gradient (selected_rows). The last attribute, lazy_mode,
/// tells whether rows that the gradient does not contain stay unchanged. With a decay it has no
/// effect, because a decay changes every row. Fluid: the same operator with a SelectedRows in Grad.
template <class Opt, bool Given = false>
struct rows_update_operator : update_operator<Opt, Given> {
  static constexpr bool knows_panels = true;
  static constexpr auto attributes = [] {
    std::array<attribute_desc, update_operator<Opt>::attributes.size() + 1> a{};
    for (std::size_t i = 0; i + 1 < a.size(); ++i) a[i] = update_operator<Opt>::attributes[i];
    a.back() = {"lazy_mode", attribute_type::boolean,
                Opt::selected_rows == optimizer::rows_rule::touched ? 1.0 : 0.0};
    return a;
  }();
  static constexpr int lazy_mode = static_cast<int>(attributes.size()) - 1;
};

}}  // namespace lamina
