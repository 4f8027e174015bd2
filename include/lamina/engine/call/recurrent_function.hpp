// SPDX-License-Identifier: Apache-2.0
// lamina/engine/call/recurrent_function.hpp - the functions of gates, cells and candidates.
#pragma once

#include <string_view>

#include <lamina/core/config.hpp>
#include <lamina/engine/call/call_error.hpp>
#include <lamina/operators/activation.hpp>
#include <lamina/operators/recurrent_activation.hpp>

namespace lamina::engine {

/// The function that an attribute names.
LAMINA_COLD inline recurrent_activation recurrent_activation_of(const operator_call& c,
                                                                int attribute) {
  const std::string_view name = text_of(c, attribute);
  const int found = find_recurrent_activation(name);
  if (found < 0) fail(c, {"expected sigmoid, tanh, relu or identity, found ", name});
  return static_cast<recurrent_activation>(found);
}

/// f(x).
template <class T>
LAMINA_INLINE LAMINA_FN T value_of(recurrent_activation f, T x) {
  switch (f) {
    case recurrent_activation::sigmoid:
      return sigmoid::f(x);
    case recurrent_activation::tanh:
      return tanh::f(x);
    case recurrent_activation::relu:
      return relu::f(x);
    default:
      return x;
  }
}

/// dy * f'(x) for y = f(x).
template <class T>
LAMINA_INLINE LAMINA_FN T slope_of(recurrent_activation f, T y, T dy) {
  switch (f) {
    case recurrent_activation::sigmoid:
      return sigmoid::df(y, dy);
    case recurrent_activation::tanh:
      return tanh::df(y, dy);
    case recurrent_activation::relu:
      return relu::df(y, dy);
    default:
      return dy;
  }
}

}  // namespace lamina::engine
