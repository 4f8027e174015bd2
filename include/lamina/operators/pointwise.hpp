// SPDX-License-Identifier: Apache-2.0
// lamina/operators/pointwise.hpp - operators that compute each element from the elements at the
// same position. One struct of a few lines defines such an operator: it runs in the reference
// executor, is fused on the CPU and has a gradient.
//
//   struct cube : lamina::pointwise {
//     static constexpr const char* type = "cube";
//     template <class T> LAMINA_FN static T f(T x) { return x * x * x; }
//     template <class T> LAMINA_FN static T df(T x, T dy) { return T(3) * x * x * dy; }
//   };
//
// `f` takes the inputs in slot order, then the first `scalars` attributes; all as T, which is
// float, double or a batch of floats. `df` takes the values that the gradient operator reads: the
// inputs and outputs listed in gradient_inputs and gradient_outputs, the output's gradient, and the
// attributes. An operator with several outputs has `f<K>`, one with several differentiable inputs
// `df<Slot>`.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/math.hpp>
#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Base of a unary pointwise operator: slots X and Out; its gradient reads X and Out@GRAD.
struct pointwise : operator_definition {
  static constexpr auto kind = operator_kind::pointwise;
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
  static constexpr int scalars = -1;  // -1: all attributes are arguments of f
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 1;
};

/// Base of a unary pointwise operator whose gradient reads Out instead of X.
struct pointwise_by_output : pointwise {
  static constexpr std::uint32_t gradient_inputs = 0;
  static constexpr std::uint32_t gradient_outputs = 1;
};

namespace detail {

/// The index of the K-th set bit: the input slot of the K-th differentiable input.
constexpr int nth_bit(std::uint32_t set, int k) {
  for (int i = 0; i < 32; ++i)
    if ((set >> i & 1u) != 0 && k-- == 0) return i;
  return -1;
}

}  // namespace detail

/// The number of leading attributes that are arguments of a pointwise operator's function.
template <class Op>
inline constexpr int scalars_of = detail::scalar_count<Op>;

/// Computes output K of a pointwise operator, forward or gradient, for one element.
template <class Op, int K, class... T>
LAMINA_INLINE LAMINA_NUMBER_FN auto pointwise_value(T... argument) {
  if constexpr (detail::is_gradient<Op>) {
    using forward = typename Op::forward;
    constexpr int slot = detail::nth_bit(forward::differentiable, K);
    if constexpr (detail::bits(forward::differentiable) == 1)
      return forward::df(argument...);
    else
      return forward::template df<slot>(argument...);
  } else if constexpr (Op::outputs.size() == 1) {
    return Op::f(argument...);
  } else {
    return Op::template f<K>(argument...);
  }
}

}}  // namespace lamina
