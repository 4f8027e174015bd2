// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/unary/layer.hpp - elementary functions of each element.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/activation.hpp>
#include <lamina/operators/activation/simple/layer.hpp>
#include <lamina/operators/elementwise/unary/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// e^x. Fluid: exp.
template <class T, class R, int... D>
constexpr auto exp(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::exp>(x, attr.name);
}

/// Natural logarithm. Fluid: log.
template <class T, class R, int... D>
constexpr auto log(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::log>(x, attr.name);
}

/// Square root. Fluid: sqrt.
template <class T, class R, int... D>
constexpr auto sqrt(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::sqrt>(x, attr.name);
}

/// 1 / sqrt(x). Fluid: rsqrt.
template <class T, class R, int... D>
constexpr auto rsqrt(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::rsqrt>(x, attr.name);
}

/// |x|. Fluid: abs.
template <class T, class R, int... D>
constexpr auto abs(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::abs>(x, attr.name);
}

/// Smallest integer that is not below x. Fluid: ceil.
template <class T, class R, int... D>
constexpr auto ceil(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::ceil>(x, attr.name);
}

/// Largest integer that is not above x. Fluid: floor.
template <class T, class R, int... D>
constexpr auto floor(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::floor>(x, attr.name);
}

/// Nearest integer; halves are rounded away from zero. Fluid: round.
template <class T, class R, int... D>
constexpr auto round(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::round>(x, attr.name);
}

/// Sine of an angle in radians. Fluid: sin.
template <class T, class R, int... D>
constexpr auto sin(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::sin>(x, attr.name);
}

/// Cosine of an angle in radians. Fluid: cos.
template <class T, class R, int... D>
constexpr auto cos(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::cos>(x, attr.name);
}

/// Arc sine, in radians. Fluid: asin.
template <class T, class R, int... D>
constexpr auto asin(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::asin>(x, attr.name);
}

/// Arc cosine, in radians. Fluid: acos.
template <class T, class R, int... D>
constexpr auto acos(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::acos>(x, attr.name);
}

/// Arc tangent, in radians. Fluid: atan.
template <class T, class R, int... D>
constexpr auto atan(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::atan>(x, attr.name);
}

/// 1 / x. Fluid: reciprocal.
template <class T, class R, int... D>
constexpr auto reciprocal(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::reciprocal>(x, attr.name);
}

/// x * x. Fluid: square.
template <class T, class R, int... D>
constexpr auto square(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::square>(x, attr.name);
}

/// -1, 0 or 1. Fluid: sign.
template <class T, class R, int... D>
constexpr auto sign(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::sign>(x, attr.name);
}

}}}  // namespace lamina::layer
