// SPDX-License-Identifier: Apache-2.0
// lamina/operators/activation/simple/layer.hpp - the activation functions without attributes.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/activation.hpp>
#include <lamina/layers/one_operator.hpp>
#include <lamina/operators/elementwise/unary/definition.hpp>

namespace lamina::inline LAMINA_ABI::layer {

/// Options of the activation functions without attributes.
struct activation_attr {
  std::string_view name{};
};

namespace detail {
template <class Op, class T, class R, int... D>
constexpr auto activate(variable<T, R, D...> x, std::string_view name, int attributes = -1) {
  constexpr bool real = is_real<T>;
  static_assert(
      check<real, expects_type<variable<float, R, D...>>, gets_type<variable<T, R, D...>>>,
      "lamina: layer: the input is floating point; cast integers first");
  return same_shape<Op>(x, Op::type, name, attributes);
}
}  // namespace detail

/// max(x, 0). Fluid: relu.
template <class T, class R, int... D>
constexpr auto relu(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<lamina::relu>(x, attr.name);
}

/// (e^x - e^-x) / (e^x + e^-x). Fluid: tanh.
template <class T, class R, int... D>
constexpr auto tanh(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<lamina::tanh>(x, attr.name);
}

/// 1 / (1 + e^-x). Fluid: sigmoid.
template <class T, class R, int... D>
constexpr auto sigmoid(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<lamina::sigmoid>(x, attr.name);
}

/// log(1 / (1 + e^-x)). Fluid: logsigmoid.
template <class T, class R, int... D>
constexpr auto logsigmoid(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<lamina::logsigmoid>(x, attr.name);
}

/// log(1 + e^x). Fluid: softplus.
template <class T, class R, int... D>
constexpr auto softplus(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<lamina::softplus>(x, attr.name);
}

/// x / (1 + |x|). Fluid: softsign.
template <class T, class R, int... D>
constexpr auto softsign(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<lamina::softsign>(x, attr.name);
}

/// x - tanh(x). Fluid: tanh_shrink.
template <class T, class R, int... D>
constexpr auto tanh_shrink(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<lamina::tanh_shrink>(x, attr.name);
}

/// e^x. Fluid: exp.
template <class T, class R, int... D>
constexpr auto exp(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<lamina::exp>(x, attr.name);
}

/// Natural logarithm. Fluid: log.
template <class T, class R, int... D>
constexpr auto log(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<lamina::log>(x, attr.name);
}

/// Square root. Fluid: sqrt.
template <class T, class R, int... D>
constexpr auto sqrt(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<lamina::sqrt>(x, attr.name);
}

/// 1 / sqrt(x). Fluid: rsqrt.
template <class T, class R, int... D>
constexpr auto rsqrt(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<lamina::rsqrt>(x, attr.name);
}

/// |x|. Fluid: abs.
template <class T, class R, int... D>
constexpr auto abs(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<lamina::abs>(x, attr.name);
}

/// Smallest whole number not below x. Fluid: ceil.
template <class T, class R, int... D>
constexpr auto ceil(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<lamina::ceil>(x, attr.name);
}

/// Largest whole number not above x. Fluid: floor.
template <class T, class R, int... D>
constexpr auto floor(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<lamina::floor>(x, attr.name);
}

/// Nearest whole number, halves away from zero. Fluid: round.
template <class T, class R, int... D>
constexpr auto round(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<lamina::round>(x, attr.name);
}

/// Sine of an angle in radians. Fluid: sin.
template <class T, class R, int... D>
constexpr auto sin(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<lamina::sin>(x, attr.name);
}

/// Cosine of an angle in radians. Fluid: cos.
template <class T, class R, int... D>
constexpr auto cos(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<lamina::cos>(x, attr.name);
}

/// Arc sine, in radians. Fluid: asin.
template <class T, class R, int... D>
constexpr auto asin(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<lamina::asin>(x, attr.name);
}

/// Arc cosine, in radians. Fluid: acos.
template <class T, class R, int... D>
constexpr auto acos(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<lamina::acos>(x, attr.name);
}

/// Arc tangent, in radians. Fluid: atan.
template <class T, class R, int... D>
constexpr auto atan(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<lamina::atan>(x, attr.name);
}

/// 1 / x. Fluid: reciprocal.
template <class T, class R, int... D>
constexpr auto reciprocal(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<lamina::reciprocal>(x, attr.name);
}

/// x * x. Fluid: square.
template <class T, class R, int... D>
constexpr auto square(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<lamina::square>(x, attr.name);
}

/// -1, 0 or 1. Fluid: sign.
template <class T, class R, int... D>
constexpr auto sign(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<lamina::sign>(x, attr.name);
}

}  // namespace lamina::inline LAMINA_ABI::layer
