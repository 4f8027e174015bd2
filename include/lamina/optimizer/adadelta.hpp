// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/adadelta.hpp - gradient descent whose steps are scaled by the sizes of earlier
// steps.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstdint>

#include <lamina/core/numbers/math.hpp>
#include <lamina/optimizer/option_check.hpp>
#include <lamina/optimizer/rule.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// Computes for each element of a parameter, in each step:
///   avg_squared_grad = rho * avg_squared_grad + (1 - rho) * grad^2
///   delta = -sqrt((avg_squared_update + epsilon) / (avg_squared_grad + epsilon)) * grad
///   avg_squared_update = rho * avg_squared_update + (1 - rho) * delta^2
///   param += delta
/// The equation has no learning rate. As in Fluid, `learning_rate` and a parameter's factor of the
/// learning rate have no effect. Source: Zeiler 2012; Fluid: adadelta.
struct adadelta final : rule<adadelta> {
  lamina::optimizer::learning_rate learning_rate = 1e-3f;
  float epsilon = 1e-6f, rho = 0.95f;
  lamina::regularizer regularization{};
  gradient_clip clip{};

  /// Returns the first option that is outside of its range, if there is one.
  constexpr option_fault own_fault() const {
    return decay_fault("rho", static_cast<double>(rho))
        .or_else(size_fault("epsilon", static_cast<double>(epsilon)));
  }

  static constexpr const char* type = "adadelta";
  static constexpr std::array<const char*, 2> states{"_avg_squared_grad", "_avg_squared_update"};
  static constexpr std::array<const char*, 2> state_slots{"AvgSquaredGrad", "AvgSquaredUpdate"};
  static constexpr std::array<const char*, 2> attributes{"epsilon", "rho"};

  /// The number of scalar arguments of `update`, and their values in a step; the first step is 0.
  static constexpr int scalar_count = 3;
  constexpr std::array<float, 3> scalars(std::int64_t step) const {
    return {learning_rate.at(step), epsilon, rho};
  }
  /// Computes the equation above for one element.
  template <class T>
  LAMINA_NUMBER_FN static void update(T& param, T grad, T& avg_squared_grad, T& avg_squared_update,
                                      T /*learning_rate*/, T epsilon, T rho) {
    avg_squared_grad = rho * avg_squared_grad + (T(1) - rho) * grad * grad;
    const T step = math::sqrt((avg_squared_update + epsilon) /
                              math::as_divisor(T(avg_squared_grad + epsilon))) *
                   grad;
    avg_squared_update = rho * avg_squared_update + (T(1) - rho) * step * step;
    param -= step;
  }
};

LAMINA_EXTERN(void require_options<adadelta>(const adadelta&))

}}}  // namespace lamina::optimizer
