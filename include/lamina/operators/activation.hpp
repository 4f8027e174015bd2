// SPDX-License-Identifier: Apache-2.0
// lamina/operators/activation.hpp - the activation functions of Fluid, X -> Out.
#pragma once

#include <lamina/operators/pointwise.hpp>

namespace lamina {

/// max(x, 0).
struct relu : pointwise_by_output {
  static constexpr const char* type = "relu";
  template <class T>
  LAMINA_FN static T f(T x) {
    return math::max(x, T(0));
  }
  template <class T>
  LAMINA_FN static T df(T y, T dy) {
    return math::select(y > T(0), dy, T(0));
  }
};

/// (e^x - e^-x) / (e^x + e^-x).
struct tanh : pointwise_by_output {
  static constexpr const char* type = "tanh";
  template <class T>
  LAMINA_FN static T f(T x) {
    return math::tanh(x);
  }
  template <class T>
  LAMINA_FN static T df(T y, T dy) {
    return dy * (T(1) - y * y);
  }
};

/// 1 / (1 + e^-x).
struct sigmoid : pointwise_by_output {
  static constexpr const char* type = "sigmoid";
  template <class T>
  LAMINA_FN static T f(T x) {
    return T(1) / (T(1) + math::exp(-x));
  }
  template <class T>
  LAMINA_FN static T df(T y, T dy) {
    return dy * y * (T(1) - y);
  }
};

}  // namespace lamina
