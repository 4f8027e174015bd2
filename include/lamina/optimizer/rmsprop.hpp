// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/rmsprop.hpp - gradient descent whose steps are divided by a moving root mean
// square of the gradients.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstdint>

#include <lamina/core/numbers/math.hpp>
#include <lamina/optimizer/option_check.hpp>
#include <lamina/optimizer/rule.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// Computes for each element of a parameter, in each step:
///   mean_square = rho * mean_square + (1 - rho) * grad^2
///   moment = momentum * moment + learning_rate * grad / sqrt(mean_square + epsilon)
///   param -= moment
/// With `centered`, mean_grad = rho * mean_grad + (1 - rho) * grad, and the divisor is
/// sqrt(max(mean_square - mean_grad^2, 0) + epsilon). Source: Hinton's lectures; Fluid: rmsprop.
struct rmsprop final : rule<rmsprop> {
  lamina::optimizer::learning_rate learning_rate = 0.01f;
  float rho = 0.95f, epsilon = 1e-6f;
  float momentum = 0;
  bool centered = false;
  lamina::regularizer regularization{};
  gradient_clip clip{};

  /// Returns the first option that is outside of its range, if there is one.
  constexpr option_fault own_fault() const {
    return decay_fault("rho", static_cast<double>(rho))
        .or_else(size_fault("epsilon", static_cast<double>(epsilon)))
        .or_else(fraction_fault("momentum", static_cast<double>(momentum)));
  }

  static constexpr const char* type = "rmsprop";
  static constexpr rows_rule selected_rows = rows_rule::all;
  static constexpr std::array<const char*, 3> states{"momentum", "mean_square", "mean_grad"};
  static constexpr std::array<const char*, 3> state_slots{"Moment", "MeanSquare", "MeanGrad"};
  static constexpr std::array<const char*, 4> attributes{"decay", "epsilon", "momentum",
                                                         "centered"};

  /// The number of scalar arguments of `update`, and their values in a step; the first step is 0.
  static constexpr int scalar_count = 5;
  constexpr std::array<float, 5> scalars(std::int64_t step) const {
    return {learning_rate.at(step), rho, epsilon, momentum, centered ? 1.f : 0.f};
  }
  /// Computes the equation above for one element.
  template <class T>
  LAMINA_NUMBER_FN static void update(T& param, T grad, T& moment, T& mean_square, T& mean_grad,
                                      T learning_rate, T rho, T epsilon, T momentum, T centered) {
    mean_square = rho * mean_square + (T(1) - rho) * grad * grad;
    mean_grad = math::select(centered > T(0), rho * mean_grad + (T(1) - rho) * grad, mean_grad);
    // If gradients are nearly constant, rounding can make the difference negative, so it is limited
    // to 0.
    const T variance = (math::max)(T(0), mean_square - centered * mean_grad * mean_grad);
    moment = momentum * moment +
             learning_rate * grad / math::as_divisor(T(math::sqrt(variance + epsilon)));
    param -= moment;
  }
};

LAMINA_EXTERN(void require_options<rmsprop>(const rmsprop&))

}}}  // namespace lamina::optimizer
