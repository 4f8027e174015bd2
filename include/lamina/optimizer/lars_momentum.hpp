// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/lars_momentum.hpp - momentum with a separate rate per parameter.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstdint>

#include <lamina/core/numbers/math.hpp>
#include <lamina/optimizer/option_check.hpp>
#include <lamina/optimizer/rule.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// Computes for each element of a parameter, in each step, where |param| and |grad| are the L2
/// norms over all elements:
///   rate = learning_rate * lars_coeff * |param| / (|grad| + lars_weight_decay * |param|),
///          or learning_rate if one of the norms is 0
///   velocity = momentum * velocity + rate * (grad + lars_weight_decay * param)
///   param -= velocity
/// Source: You et al. 2017; Fluid: lars_momentum.
struct lars_momentum final : rule<lars_momentum> {
  lamina::optimizer::learning_rate learning_rate = 0.01f;
  float momentum = 0.9f;  // called mu in the operator
  float lars_coeff = 0.001f, lars_weight_decay = 0.0005f;
  lamina::regularizer regularization{};
  gradient_clip clip{};

  /// Returns the first option that is outside of its range, if there is one.
  constexpr option_fault own_fault() const {
    return fraction_fault("momentum", static_cast<double>(momentum))
        .or_else(size_fault("lars_coeff", static_cast<double>(lars_coeff)))
        .or_else(size_fault("lars_weight_decay", static_cast<double>(lars_weight_decay)));
  }

  static constexpr const char* type = "lars_momentum";
  static constexpr std::array<const char*, 1> states{"velocity"};
  static constexpr std::array<const char*, 1> state_slots{"Velocity"};
  static constexpr std::array<const char*, 3> attributes{"mu", "lars_coeff", "lars_weight_decay"};
  static constexpr std::array<const char*, 3> option_names{"momentum", "lars_coeff",
                                                           "lars_weight_decay"};

  /// The number of scalar arguments of `update`, and their values in a step; the first step is 0.
  static constexpr int scalar_count = 4;
  constexpr std::array<float, 4> scalars(std::int64_t step) const {
    return {learning_rate.at(step), momentum, lars_coeff, lars_weight_decay};
  }
  /// Returns the gradient: its norm, and the parameter's norm, are the last arguments of `update`.
  template <class T>
  LAMINA_NUMBER_FN static T normed(T /*param*/, T grad, T /*velocity*/, T /*learning_rate*/,
                                   T /*mu*/, T /*lars_coeff*/, T /*weight_decay*/) {
    return grad;
  }
  /// Computes the equation above for one element.
  template <class T>
  LAMINA_NUMBER_FN static void update(T& param, T grad, T& velocity, T learning_rate, T mu,
                                      T lars_coeff, T weight_decay, T param_norm, T grad_norm) {
    const T adapted =
        learning_rate * lars_coeff * param_norm / (grad_norm + weight_decay * param_norm);
    const T rate = math::select(
        param_norm > T(0), math::select(grad_norm > T(0), adapted, learning_rate), learning_rate);
    velocity = mu * velocity + rate * (grad + weight_decay * param);
    param -= velocity;
  }
};

LAMINA_EXTERN(void require_options<lars_momentum>(const lars_momentum&))

}}}  // namespace lamina::optimizer
