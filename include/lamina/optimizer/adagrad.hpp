// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/adagrad.hpp - gradient descent scaled by the sum of all squared gradients.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstdint>

#include <lamina/core/numbers/math.hpp>
#include <lamina/optimizer/option_check.hpp>
#include <lamina/optimizer/rule.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// Computes for each element of a parameter, in each step:
///   moment += grad^2
///   param -= learning_rate * grad / (sqrt(moment) + epsilon)
/// Source: Duchi et al. 2011; Fluid: adagrad.
struct adagrad final : rule<adagrad> {
  lamina::optimizer::learning_rate learning_rate = 0.01f;
  float epsilon = 1e-6f;
  float initial_accumulator_value = 0;
  lamina::regularizer regularization{};
  gradient_clip clip{};

  /// Returns the first option that is outside of its range, if there is one.
  constexpr option_fault own_fault() const {
    return size_fault("epsilon", static_cast<double>(epsilon))
        .or_else(size_fault("initial_accumulator_value",
                            static_cast<double>(initial_accumulator_value)));
  }

  static constexpr const char* type = "adagrad";
  static constexpr rows_rule selected_rows = rows_rule::touched;
  static constexpr std::array<const char*, 1> states{"moment"};
  static constexpr std::array<const char*, 1> state_slots{"Moment"};
  static constexpr std::array<const char*, 1> attributes{"epsilon"};

  /// Returns the initial value of the accumulator.
  constexpr float initial_state(int /*state*/) const { return initial_accumulator_value; }

  /// The number of scalar arguments of `update`, and their values in a step; the first step is 0.
  static constexpr int scalar_count = 2;
  constexpr std::array<float, 2> scalars(std::int64_t step) const {
    return {learning_rate.at(step), epsilon};
  }
  /// Computes the equation above for one element.
  template <class T>
  LAMINA_NUMBER_FN static void update(T& param, T grad, T& moment, T learning_rate, T epsilon) {
    moment += grad * grad;
    param -= learning_rate * grad / math::as_divisor(T(math::sqrt(moment) + epsilon));
  }
};

LAMINA_EXTERN(void require_options<adagrad>(const adagrad&))

}}}  // namespace lamina::optimizer
