// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/momentum.hpp - gradient descent with a velocity.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstdint>

#include <lamina/core/numbers/math.hpp>
#include <lamina/optimizer/option_check.hpp>
#include <lamina/optimizer/rule.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// Computes for each element of a parameter, in each step:
///   velocity = momentum * velocity + grad
///   param -= learning_rate * velocity
/// With use_nesterov, the second line is param -= learning_rate * (grad + momentum * velocity).
/// Fluid: momentum.
struct momentum final : rule<momentum> {
  lamina::optimizer::learning_rate learning_rate = 0.01f;
  float momentum = 0.9f;  // called mu in the operator
  bool use_nesterov = false;
  lamina::regularizer regularization{};
  gradient_clip clip{};

  /// Returns the first option that is outside of its range, if there is one.
  constexpr option_fault own_fault() const {
    return fraction_fault("momentum", static_cast<double>(momentum));
  }

  static constexpr const char* type = "momentum";
  static constexpr rows_rule selected_rows = rows_rule::all;
  static constexpr std::array<const char*, 1> states{"velocity"};
  static constexpr std::array<const char*, 1> state_slots{"Velocity"};
  static constexpr std::array<const char*, 2> attributes{"mu", "use_nesterov"};
  static constexpr std::array<const char*, 2> option_names{"momentum", "use_nesterov"};

  /// The number of scalar arguments of `update`, and their values in a step; the first step is 0.
  static constexpr int scalar_count = 3;
  constexpr std::array<float, 3> scalars(std::int64_t step) const {
    return {learning_rate.at(step), momentum, use_nesterov ? 1.f : 0.f};
  }
  /// Computes the equation above for one element.
  template <class T>
  LAMINA_NUMBER_FN static void update(T& param, T grad, T& velocity, T learning_rate, T mu,
                                      T use_nesterov) {
    velocity = mu * velocity + grad;
    param -= learning_rate * math::select(use_nesterov > T(0), grad + mu * velocity, velocity);
  }
};

LAMINA_EXTERN(void require_options<momentum>(const momentum&))

}}}  // namespace lamina::optimizer
