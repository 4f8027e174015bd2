// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/adam.hpp - gradient descent with adaptive moments.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstdint>

#include <lamina/core/numbers/math.hpp>
#include <lamina/optimizer/option_check.hpp>
#include <lamina/optimizer/rule.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// Computes for each element of a parameter, in each step, with t = step + 1:
///   moment1 = beta1 * moment1 + (1 - beta1) * grad
///   moment2 = beta2 * moment2 + (1 - beta2) * grad^2
///   rate = learning_rate * sqrt(1 - beta2^t) / (1 - beta1^t)
///   param -= rate * moment1 / (sqrt(moment2) + epsilon)
/// In rows that a sparse gradient (of an embedding with is_sparse) does not contain, the gradient
/// is 0. By default these rows are updated too; with lazy_mode neither they nor their moments
/// change. Source: Kingma and Ba 2014, the form at the end of section 2; Fluid: adam.
struct adam final : rule<adam> {
  lamina::optimizer::learning_rate learning_rate = 1e-3f;
  float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f;
  bool lazy_mode = false;  // update only the rows of a sparse gradient
  lamina::regularizer regularization{};
  gradient_clip clip{};

  /// Returns the first option that is outside of its range, if there is one.
  constexpr option_fault own_fault() const {
    return decay_fault("beta1", static_cast<double>(beta1))
        .or_else(decay_fault("beta2", static_cast<double>(beta2)))
        .or_else(size_fault("epsilon", static_cast<double>(epsilon)));
  }

  static constexpr const char* type = "adam";
  static constexpr rows_rule selected_rows = rows_rule::all;
  static constexpr std::array<const char*, 2> states{"moment1", "moment2"};
  static constexpr std::array<const char*, 2> state_slots{"Moment1", "Moment2"};
  static constexpr std::array<const char*, 3> attributes{"beta1", "beta2", "epsilon"};

  /// The number of scalar arguments of `update`, and their values in a step; the first step is 0.
  static constexpr int scalar_count = 4;
  constexpr std::array<float, 4> scalars(std::int64_t step) const {
    return {corrected_rate(learning_rate.at(step), step, beta1, beta2), beta1, beta2, epsilon};
  }
  /// Returns beta1 and beta2, whose powers correct the learning rate (corrected_rate).
  constexpr std::array<float, 2> powers() const { return {beta1, beta2}; }
  /// Computes the equation above for one element; `learning_rate` is the corrected rate.
  template <class T>
  LAMINA_NUMBER_FN static void update(T& param, T grad, T& moment1, T& moment2, T learning_rate,
                                      T beta1, T beta2, T epsilon) {
    moment1 = beta1 * moment1 + (T(1) - beta1) * grad;
    moment2 = beta2 * moment2 + (T(1) - beta2) * grad * grad;
    param -= learning_rate * moment1 / math::as_divisor(T(math::sqrt(moment2) + epsilon));
  }
};

LAMINA_EXTERN(void require_options<adam>(const adam&))

}}}  // namespace lamina::optimizer
