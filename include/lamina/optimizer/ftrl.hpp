// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/ftrl.hpp - the optimizer "follow the regularised leader".
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstdint>

#include <lamina/core/numbers/math.hpp>
#include <lamina/optimizer/option_check.hpp>
#include <lamina/optimizer/rule.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// Computes for each element of a parameter, in each step, where n is the accumulator `squared`
/// before the step, n' = n + grad^2 the accumulator after it, and z the accumulator `linear`:
///   z += grad - (n'^-lr_power - n^-lr_power) / learning_rate * param;
///   param = (sign(z) * l1 - z) / (n'^-lr_power / learning_rate + 2 * l2) if |z| > l1, else 0.
/// The learning rate must not be 0 in any step, because the equation divides by it. Source: McMahan
/// et al. 2013; Fluid: ftrl.
struct ftrl final : rule<ftrl> {
  lamina::optimizer::learning_rate learning_rate = 0.01f;
  float l1 = 0, l2 = 0, lr_power = -0.5f;
  lamina::regularizer regularization{};
  gradient_clip clip{};

  /// Returns the first option that is outside of its range, if there is one.
  constexpr option_fault own_fault() const {
    return size_fault("l1", static_cast<double>(l1))
        .or_else(size_fault("l2", static_cast<double>(l2)))
        .or_else((lr_power <= 0 ? finite_fault("lr_power", static_cast<double>(lr_power))
                                : option_fault{"lr_power", "a number of at most 0",
                                               static_cast<double>(lr_power)}));
  }

  static constexpr const char* type = "ftrl";
  static constexpr std::array<const char*, 2> states{"squared", "linear"};
  static constexpr std::array<const char*, 2> state_slots{"SquaredAccumulator",
                                                          "LinearAccumulator"};
  static constexpr std::array<const char*, 3> attributes{"l1", "l2", "lr_power"};

  /// Returns x^-lr_power for x >= 0. The usual exponent 1/2 is computed as a square root, which is
  /// faster.
  template <class T>
  LAMINA_NUMBER_FN static T raised(T x, T lr_power) {
    const T of_zero = math::select(lr_power < T(0), T(0), T(1));
    const T safe = math::select(x > T(0), x, T(1));
    const T power = math::select(x > T(0), math::pow(safe, -lr_power), of_zero);
    return math::select(lr_power == T(-0.5), math::sqrt(x), power);
  }

  /// The number of scalar arguments of `update`, and their values in a step; the first step is 0.
  static constexpr int scalar_count = 4;
  constexpr std::array<float, 4> scalars(std::int64_t step) const {
    return {learning_rate.at(step), l1, l2, lr_power};
  }
  /// Computes the equation above for one element.
  template <class T>
  LAMINA_NUMBER_FN static void update(T& param, T grad, T& squared, T& linear, T learning_rate,
                                      T l1, T l2, T lr_power) {
    const T larger = squared + grad * grad;
    const T after = raised(larger, lr_power);
    linear += grad - (after - raised(squared, lr_power)) / learning_rate * param;
    squared = larger;
    const T shrunk = (math::sign(linear) * l1 - linear) / (after / learning_rate + T(2) * l2);
    param = math::select(math::abs(linear) > l1, shrunk, T(0));
  }
};

LAMINA_EXTERN(void require_options<ftrl>(const ftrl&))

}}}  // namespace lamina::optimizer
