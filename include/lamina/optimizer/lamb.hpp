// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/lamb.hpp - adam with steps proportional to the norm of the parameter.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstdint>

#include <lamina/core/numbers/math.hpp>
#include <lamina/optimizer/option_check.hpp>
#include <lamina/optimizer/rule.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// Computes for each element of a parameter, in each step, where |param| and |u| are the L2 norms
/// over all elements; if one norm is 0, |param| / |u| is replaced by 1:
///   moment1 = beta1 * moment1 + (1 - beta1) * grad
///   moment2 = beta2 * moment2 + (1 - beta2) * grad^2
///   u = moment1 / (sqrt(moment2) + epsilon) + lamb_weight_decay * param
///   param -= learning_rate * |param| / |u| * u
/// There is no bias correction. Source: You et al. 2019; Fluid: lamb.
struct lamb final : rule<lamb> {
  lamina::optimizer::learning_rate learning_rate = 1e-3f;
  float lamb_weight_decay = 0.01f;
  float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-6f;
  lamina::regularizer regularization{};
  gradient_clip clip{};

  /// Returns the first option that is outside of its range, if there is one.
  constexpr option_fault own_fault() const {
    return decay_fault("beta1", static_cast<double>(beta1))
        .or_else(decay_fault("beta2", static_cast<double>(beta2)))
        .or_else(size_fault("epsilon", static_cast<double>(epsilon)))
        .or_else(size_fault("lamb_weight_decay", static_cast<double>(lamb_weight_decay)));
  }

  static constexpr const char* type = "lamb";
  static constexpr rows_rule selected_rows = rows_rule::all;
  static constexpr std::array<const char*, 2> states{"moment1", "moment2"};
  static constexpr std::array<const char*, 2> state_slots{"Moment1", "Moment2"};
  static constexpr std::array<const char*, 4> attributes{"beta1", "beta2", "epsilon",
                                                         "weight_decay"};

  /// The number of scalar arguments of `update`, and their values in a step; the first step is 0.
  static constexpr int scalar_count = 5;
  constexpr std::array<float, 5> scalars(std::int64_t step) const {
    return {learning_rate.at(step), beta1, beta2, epsilon, lamb_weight_decay};
  }
  /// Returns u of the equation, computed from updated copies of the moments. The engine computes
  /// its norm before it calls `update`.
  template <class T>
  LAMINA_NUMBER_FN static T normed(T param, T grad, T moment1, T moment2, T /*learning_rate*/,
                                   T beta1, T beta2, T epsilon, T weight_decay) {
    const T first = beta1 * moment1 + (T(1) - beta1) * grad;
    const T second = beta2 * moment2 + (T(1) - beta2) * grad * grad;
    return first / math::as_divisor(T(math::sqrt(second) + epsilon)) + weight_decay * param;
  }
  /// Computes the equation above for one element.
  template <class T>
  LAMINA_NUMBER_FN static void update(T& param, T grad, T& moment1, T& moment2, T learning_rate,
                                      T beta1, T beta2, T epsilon, T weight_decay, T param_norm,
                                      T u_norm) {
    const T u =
        normed(param, grad, moment1, moment2, learning_rate, beta1, beta2, epsilon, weight_decay);
    moment1 = beta1 * moment1 + (T(1) - beta1) * grad;
    moment2 = beta2 * moment2 + (T(1) - beta2) * grad * grad;
    const T ratio = math::select(param_norm > T(0),
                                 math::select(u_norm > T(0), param_norm / u_norm, T(1)), T(1));
    param -= learning_rate * ratio * u;
  }
};

LAMINA_EXTERN(void require_options<lamb>(const lamb&))

}}}  // namespace lamina::optimizer
