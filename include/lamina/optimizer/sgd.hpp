// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/sgd.hpp - stochastic gradient descent.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstdint>

#include <lamina/optimizer/option_check.hpp>
#include <lamina/optimizer/rule.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// Computes param -= learning_rate * grad for each element of a parameter, in each step. Fluid:
/// sgd.
struct sgd final : rule<sgd> {
  lamina::optimizer::learning_rate learning_rate = 0.01f;
  lamina::regularizer regularization{};
  gradient_clip clip{};

  static constexpr const char* type = "sgd";
  static constexpr rows_rule selected_rows = rows_rule::touched;

  /// The number of scalar arguments of `update`, and their values in a step; the first step is 0.
  static constexpr int scalar_count = 1;
  constexpr std::array<float, 1> scalars(std::int64_t step) const {
    return {learning_rate.at(step)};
  }
  /// Computes the equation above for one element.
  template <class T>
  LAMINA_NUMBER_FN static void update(T& param, T grad, T learning_rate) {
    param -= learning_rate * grad;
  }
};

/// The optimizer that `lamina::train(model, reader)` uses.
inline constexpr sgd default_sgd{};

LAMINA_EXTERN(void require_options<sgd>(const sgd&))

}}}  // namespace lamina::optimizer
