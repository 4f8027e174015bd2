// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/common.hpp - the activation functions that recurrent operators apply
// to their gates, cells and candidates, for all engines.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/engine/common/call_error.hpp>
#include <lamina/operators/activation/simple/definition.hpp>
#include <lamina/operators/recurrent/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// Returns the activation function that a text attribute names. Fails if the name is unknown.
LAMINA_API_COLD recurrent_activation recurrent_activation_of(const operator_call& c, int attribute);

/// Returns the activation function whose number is the value of an attribute. Fails if the number
/// is not from 0 to 3.
LAMINA_API_COLD recurrent_activation recurrent_activation_numbered(const operator_call& c,
                                                                   int attribute);

/// Returns x limited to [-limit, limit]; x itself if the limit is 0. NaN stays NaN.
template <class T, class Real>
LAMINA_INLINE LAMINA_NUMBER_FN T clipped(T x, Real limit) {
  return limit > 0 ? T((math::min)(T(limit), T((math::max)(T(-limit), x)))) : x;
}
/// Returns the gradient of x for y = clipped(x) with gradient dy: 0 if y is at the limit, else dy.
template <class T, class Real>
LAMINA_INLINE LAMINA_NUMBER_FN T through_clip(T y, T dy, Real limit) {
  return limit > 0 ? T(math::select(math::abs(y) >= T(limit), T(0), dy)) : dy;
}

/// f(x).
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T value_of(recurrent_activation f, T x) {
  switch (f) {
    case recurrent_activation::sigmoid:
      return operators::sigmoid::f(x);
    case recurrent_activation::tanh:
      return operators::tanh::f(x);
    case recurrent_activation::relu:
      return operators::relu::f(x);
    default:
      return x;
  }
}

/// dy * f'(x) for y = f(x).
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T grad_of(recurrent_activation f, T y, T dy) {
  switch (f) {
    case recurrent_activation::sigmoid:
      return operators::sigmoid::df(y, dy);
    case recurrent_activation::tanh:
      return operators::tanh::df(y, dy);
    case recurrent_activation::relu:
      return operators::relu::df(y, dy);
    default:
      return dy;
  }
}

#if LAMINA_DEFINES

recurrent_activation recurrent_activation_of(const operator_call& c, int attribute) {
  const std::string_view name = text_of(c, attribute);
  const int found = find_recurrent_activation(name);
  if (found < 0) fail(c, {"expected sigmoid, tanh, relu or identity, found ", name});
  return static_cast<recurrent_activation>(found);
}

recurrent_activation recurrent_activation_numbered(const operator_call& c, int attribute) {
  const int number = c.integer(attribute);
  if (number < 0 || number > 3) fail(c, {"expected an activation from 0 to 3, found ", number});
  return static_cast<recurrent_activation>(number);
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine
