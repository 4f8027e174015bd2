// SPDX-License-Identifier: Apache-2.0
// lamina/operators/pointwise.hpp - operators that compute each element from the elements at the
// same position. A struct of a few lines defines such an operator, for the reference executor and
// the engines, which fuse it with other pointwise operators, and with its gradient.
//
//   struct cube : lamina::pointwise {
//     static constexpr const char* type = "cube";
//     template <class T> LAMINA_FN static T f(T x) { return x * x * x; }
//     template <class T> LAMINA_FN static T df(T x, T dy) { return T(3) * x * x * dy; }
//   };
//
// `f` takes an element of each input in slot order, then the first `scalars` attributes. All of
// them have type T: float, double or a SIMD vector of them. `df` takes the values that the gradient
// operator reads: elements of the inputs and outputs that gradient_inputs and gradient_outputs
// select, the gradient of the output, and the attributes. An operator with several outputs has a
// function `f<K>` for output K; an operator with several differentiable inputs has a function
// `df<Slot>` for each of these input slots.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/math.hpp>
#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Base of the pointwise operators. By default, the operator has the slots X and Out, and its
/// gradient reads X and Out@GRAD.
struct pointwise : operator_definition {
  static constexpr auto kind = operator_kind::pointwise;
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
  static constexpr int scalars = -1;  // -1: all attributes are arguments of f
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 1;
};

/// Base of the pointwise operators with one input whose gradient reads Out instead of X.
struct pointwise_by_output : pointwise {
  static constexpr std::uint32_t gradient_inputs = 0;
  static constexpr std::uint32_t gradient_outputs = 1;
};

namespace detail {

/// Returns the position of the k-th bit that is 1 in `set`, counted from 0. For a mask of
/// differentiable inputs, this is the slot of the k-th of them.
constexpr int nth_bit(std::uint32_t set, int k) {
  for (int i = 0; i < 32; ++i)
    if ((set >> i & 1u) != 0 && k-- == 0) return i;
  return -1;
}

}  // namespace detail

/// The number of attributes, from the first on, that are arguments of the function of a pointwise
/// operator.
template <class Op>
inline constexpr int scalars_of = detail::scalar_count<Op>;

/// Computes output K of a pointwise operator, or of the gradient operator of a pointwise operator,
/// for one element.
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
