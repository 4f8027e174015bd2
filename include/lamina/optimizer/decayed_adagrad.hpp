// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/decayed_adagrad.hpp - adagrad with a moving average of squared gradients instead
// of their sum.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstdint>

#include <lamina/core/numbers/math.hpp>
#include <lamina/optimizer/option_check.hpp>
#include <lamina/optimizer/rule.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// Computes for each element of a parameter, in each step:
///   moment = decay * moment + (1 - decay) * grad^2
///   param -= learning_rate * grad / (sqrt(moment) + epsilon)
/// Fluid: decayed_adagrad.
struct decayed_adagrad final : rule<decayed_adagrad> {
  lamina::optimizer::learning_rate learning_rate = 0.01f;
  float decay = 0.95f, epsilon = 1e-6f;
  lamina::regularizer regularization{};
  gradient_clip clip{};

  /// Returns the first option that is outside of its range, if there is one.
  constexpr option_fault own_fault() const {
    return decay_fault("decay", static_cast<double>(decay))
        .or_else(size_fault("epsilon", static_cast<double>(epsilon)));
  }

  static constexpr const char* type = "decayed_adagrad";
  static constexpr std::array<const char*, 1> states{"moment"};
  static constexpr std::array<const char*, 1> state_slots{"Moment"};
  static constexpr std::array<const char*, 2> attributes{"decay", "epsilon"};

  /// The number of scalar arguments of `update`, and their values in a step; the first step is 0.
  static constexpr int scalar_count = 3;
  constexpr std::array<float, 3> scalars(std::int64_t step) const {
    return {learning_rate.at(step), decay, epsilon};
  }
  /// Computes the equation above for one element.
  template <class T>
  LAMINA_NUMBER_FN static void update(T& param, T grad, T& moment, T learning_rate, T decay,
                                      T epsilon) {
    moment = decay * moment + (T(1) - decay) * grad * grad;
    param -= learning_rate * grad / math::as_divisor(T(math::sqrt(moment) + epsilon));
  }
};

LAMINA_EXTERN(void require_options<decayed_adagrad>(const decayed_adagrad&))

}}}  // namespace lamina::optimizer
