// SPDX-License-Identifier: Apache-2.0
// An operator of the project: its kernels are compiled from this header.
#pragma once

#include <lamina/layers/layer_helper.hpp>
#include <lamina/operators/pointwise.hpp>

struct bent_identity : lamina::pointwise {
  static constexpr const char* type = "bent_identity";
  template <class T>
  LAMINA_FN static T f(T x) {
    return (lamina::math::sqrt(x * x + T(1)) - T(1)) / T(2) + x;
  }
  template <class T>
  LAMINA_FN static T df(T x, T dy) {
    return (x / (T(2) * lamina::math::sqrt(x * x + T(1))) + T(1)) * dy;
  }
};
