// SPDX-License-Identifier: Apache-2.0
// lamina/operators/fill/definition_like.hpp - fill_zeros_like: zeros in the shape of another
// variable.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/pointwise.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = zeros in the shape of X. Fluid: fill_zeros_like.
struct fill_zeros_like : pointwise {
  static constexpr const char* type = "fill_zeros_like";
  static constexpr std::uint32_t differentiable = 0;
  template <class T>
  LAMINA_NUMBER_FN static T f(T) {
    return T(0);
  }
};

using fill_like_operators = operator_list<fill_zeros_like>;

}}}  // namespace lamina::operators
