// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/proximal_gd.hpp - gradient descent, followed by the proximal step of l1 and l2
// penalties.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstdint>

#include <lamina/core/numbers/math.hpp>
#include <lamina/optimizer/option_check.hpp>
#include <lamina/optimizer/rule.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// Returns sign(z) * max(|z| - rate * l1, 0) / (1 + rate * l2). The result is the x that minimises
/// (x - z)^2 / 2 + rate * (l1 * |x| + l2 * x^2 / 2).
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T proximal(T z, T rate, T l1, T l2) {
  return math::sign(z) * (math::max)(math::abs(z) - rate * l1, T(0)) / (T(1) + rate * l2);
}

/// Computes for each element of a parameter, in each step:
///   z = param - learning_rate * grad
///   param = sign(z) * max(|z| - learning_rate * l1, 0) / (1 + learning_rate * l2)
/// Fluid: proximal_gd.
struct proximal_gd final : rule<proximal_gd> {
  lamina::optimizer::learning_rate learning_rate = 0.01f;
  float l1 = 0, l2 = 0;
  lamina::regularizer regularization{};
  gradient_clip clip{};

  /// Returns the first option that is outside of its range, if there is one.
  constexpr option_fault own_fault() const {
    return size_fault("l1", static_cast<double>(l1))
        .or_else(size_fault("l2", static_cast<double>(l2)));
  }

  static constexpr const char* type = "proximal_gd";
  static constexpr std::array<const char*, 2> attributes{"l1", "l2"};

  /// The number of scalar arguments of `update`, and their values in a step; the first step is 0.
  static constexpr int scalar_count = 3;
  constexpr std::array<float, 3> scalars(std::int64_t step) const {
    return {learning_rate.at(step), l1, l2};
  }
  /// Computes the equation above for one element.
  template <class T>
  LAMINA_NUMBER_FN static void update(T& param, T grad, T learning_rate, T l1, T l2) {
    param = proximal(param - learning_rate * grad, learning_rate, l1, l2);
  }
};

LAMINA_EXTERN(void require_options<proximal_gd>(const proximal_gd&))

}}}  // namespace lamina::optimizer
