// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/proximal_adagrad.hpp - adagrad, followed by the proximal step of l1 and l2
// penalties.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstdint>

#include <lamina/core/numbers/math.hpp>
#include <lamina/optimizer/option_check.hpp>
#include <lamina/optimizer/proximal_gd.hpp>
#include <lamina/optimizer/rule.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// Computes for each element of a parameter, in each step:
///   moment += grad^2
///   z = param - learning_rate * grad / sqrt(moment)
///   param = sign(z) * max(|z| - learning_rate * l1, 0) / (1 + learning_rate * l2)
/// As long as all gradients of an element were 0, z = param (Fluid would divide 0 by 0). Fluid:
/// proximal_adagrad.
struct proximal_adagrad final : rule<proximal_adagrad> {
  lamina::optimizer::learning_rate learning_rate = 0.01f;
  float l1 = 0, l2 = 0;
  lamina::regularizer regularization{};
  gradient_clip clip{};

  /// Returns the first option that is outside of its range, if there is one.
  constexpr option_fault own_fault() const {
    return size_fault("l1", static_cast<double>(l1))
        .or_else(size_fault("l2", static_cast<double>(l2)));
  }

  static constexpr const char* type = "proximal_adagrad";
  static constexpr std::array<const char*, 1> states{"moment"};
  static constexpr std::array<const char*, 1> state_slots{"Moment"};
  static constexpr std::array<const char*, 2> attributes{"l1", "l2"};

  /// The number of scalar arguments of `update`, and their values in a step; the first step is 0.
  static constexpr int scalar_count = 3;
  constexpr std::array<float, 3> scalars(std::int64_t step) const {
    return {learning_rate.at(step), l1, l2};
  }
  /// Computes the equation above for one element.
  template <class T>
  LAMINA_NUMBER_FN static void update(T& param, T grad, T& moment, T learning_rate, T l1, T l2) {
    moment += grad * grad;
    const T root = math::sqrt(math::select(moment > T(0), moment, T(1)));
    param = proximal(param - learning_rate * grad / root, learning_rate, l1, l2);
  }
};

LAMINA_EXTERN(void require_options<proximal_adagrad>(const proximal_adagrad&))

}}}  // namespace lamina::optimizer
