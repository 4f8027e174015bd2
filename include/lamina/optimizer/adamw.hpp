// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/adamw.hpp - adam with a weight decay that is separate from the gradient.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cmath>
#include <cstdint>

#include <lamina/core/numbers/math.hpp>
#include <lamina/optimizer/option_check.hpp>
#include <lamina/optimizer/rule.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// Computes for each element of a parameter, in each step, with t = step + 1:
///   moment1 = beta1 * moment1 + (1 - beta1) * grad
///   moment2 = beta2 * moment2 + (1 - beta2) * grad^2
///   u = (moment1 / (1 - beta1^t)) / (sqrt(moment2 / (1 - beta2^t)) + epsilon)
///   param -= learning_rate * (u + weight_decay * param)
/// Unlike the option `regularization`, weight_decay does not change the moments. A parameter's own
/// `.regularizer = l2_decay(c)` replaces weight_decay by c for this parameter; with c = 0 it does
/// not decay. Epsilon is added after the bias correction, as in PyTorch (adam adds it before). In
/// rows that a sparse gradient (of an embedding with is_sparse) does not contain, the gradient is
/// 0. `minimize` inside of a program is a compile-time error, because the decay and epsilon are
/// multiplied by other numbers in each step. Source: Loshchilov and Hutter 2017; PyTorch, Keras:
/// AdamW.
struct adamw final : rule<adamw> {
  lamina::optimizer::learning_rate learning_rate = 1e-3f;
  float weight_decay = 0.01f;
  float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f;
  lamina::regularizer regularization{};
  gradient_clip clip{};

  /// Returns the first option that is outside of its range, if there is one.
  constexpr option_fault own_fault() const {
    return decay_fault("beta1", static_cast<double>(beta1))
        .or_else(decay_fault("beta2", static_cast<double>(beta2)))
        .or_else(size_fault("epsilon", static_cast<double>(epsilon)))
        .or_else(size_fault("weight_decay", static_cast<double>(weight_decay)));
  }

  static constexpr const char* type = "adamw";
  static constexpr rows_rule selected_rows = rows_rule::all;
  static constexpr std::array<const char*, 2> states{"moment1", "moment2"};
  static constexpr std::array<const char*, 2> state_slots{"Moment1", "Moment2"};
  static constexpr std::array<const char*, 5> attributes{"beta1", "beta2", "epsilon",
                                                         "weight_decay", "decay_scale"};
  static constexpr int decay_scalar = 4;

  /// The number of scalar arguments of `update`, and their values in a step; the first step is 0.
  /// With the corrections c1 = 1 - beta1^t and c2 = sqrt(1 - beta2^t), they are the learning rate
  /// times c2 / c1, the betas, epsilon * c2, weight_decay, and c1 / c2. So the first argument
  /// multiplies the whole step, and a parameter's own factor on it applies to the decay too.
  static constexpr int scalar_count = 6;
  std::array<float, 6> scalars(std::int64_t step) const {
    const double t = static_cast<double>(step + 1);
    const double c1 = 1 - std::pow(static_cast<double>(beta1), t);
    const double c2 = std::sqrt(1 - std::pow(static_cast<double>(beta2), t));
    return {static_cast<float>(learning_rate.at(step) * (c2 / c1)),
            beta1,
            beta2,
            static_cast<float>(epsilon * c2),
            weight_decay,
            static_cast<float>(c1 / c2)};
  }
  /// Computes the equation above for one element, with the arguments that `scalars` returns.
  template <class T>
  LAMINA_NUMBER_FN static void update(T& param, T grad, T& moment1, T& moment2, T learning_rate,
                                      T beta1, T beta2, T epsilon, T weight_decay, T decay_scale) {
    moment1 = beta1 * moment1 + (T(1) - beta1) * grad;
    moment2 = beta2 * moment2 + (T(1) - beta2) * grad * grad;
    const T u = moment1 / math::as_divisor(T(math::sqrt(moment2) + epsilon));
    param -= learning_rate * (u + weight_decay * decay_scale * param);
  }
};

LAMINA_EXTERN(void require_options<adamw>(const adamw&))

}}}  // namespace lamina::optimizer
