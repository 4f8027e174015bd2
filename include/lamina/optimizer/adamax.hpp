// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/adamax.hpp - adam with a decaying maximum of gradients instead of the second
// moment.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstdint>

#include <lamina/core/numbers/math.hpp>
#include <lamina/optimizer/option_check.hpp>
#include <lamina/optimizer/rule.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// Computes for each element of a parameter, in each step, with t = step + 1:
///   moment = beta1 * moment + (1 - beta1) * grad
///   inf_norm = max(|grad|, beta2 * inf_norm + epsilon)
///   param -= learning_rate / (1 - beta1^t) * moment / inf_norm
/// Source: Kingma and Ba 2014, section 7.1; Fluid: adamax.
struct adamax final : rule<adamax> {
  lamina::optimizer::learning_rate learning_rate = 1e-3f;
  float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f;
  lamina::regularizer regularization{};
  gradient_clip clip{};

  /// Returns the first option that is outside of its range, if there is one.
  constexpr option_fault own_fault() const {
    return decay_fault("beta1", static_cast<double>(beta1))
        .or_else(decay_fault("beta2", static_cast<double>(beta2)))
        .or_else(size_fault("epsilon", static_cast<double>(epsilon)));
  }

  static constexpr const char* type = "adamax";
  static constexpr std::array<const char*, 2> states{"moment", "inf_norm"};
  static constexpr std::array<const char*, 2> state_slots{"Moment", "InfNorm"};
  static constexpr std::array<const char*, 3> attributes{"beta1", "beta2", "epsilon"};

  /// The number of scalar arguments of `update`, and their values in a step; the first step is 0.
  static constexpr int scalar_count = 4;
  constexpr std::array<float, 4> scalars(std::int64_t step) const {
    return {corrected_rate(learning_rate.at(step), step, beta1, 0), beta1, beta2, epsilon};
  }
  /// Returns the two numbers whose powers correct the learning rate (corrected_rate); a 0 means no
  /// correction.
  constexpr std::array<float, 2> powers() const { return {beta1, 0}; }
  /// Computes the equation above for one element; `learning_rate` is the corrected rate.
  template <class T>
  LAMINA_NUMBER_FN static void update(T& param, T grad, T& moment, T& inf_norm, T learning_rate,
                                      T beta1, T beta2, T epsilon) {
    moment = beta1 * moment + (T(1) - beta1) * grad;
    inf_norm = (math::max)(math::abs(grad), beta2 * inf_norm + epsilon);
    param -= learning_rate * moment / math::as_divisor(inf_norm);
  }
};

LAMINA_EXTERN(void require_options<adamax>(const adamax&))

}}}  // namespace lamina::optimizer
