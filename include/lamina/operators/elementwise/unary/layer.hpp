// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/unary/layer.hpp - elementary functions of each element.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/activation.hpp>
#include <lamina/operators/activation/simple/layer.hpp>
#include <lamina/operators/elementwise/unary/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Returns e^x for each element. Fluid: exp.
template <class T, class R, int... D>
constexpr auto exp(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::exp>(x, attr.name);
}

/// Returns the natural logarithm of each element. Fluid: log.
template <class T, class R, int... D>
constexpr auto log(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::log>(x, attr.name);
}

/// Returns the square root of each element. Fluid: sqrt.
template <class T, class R, int... D>
constexpr auto sqrt(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::sqrt>(x, attr.name);
}

/// Returns 1 / sqrt(x) for each element. Fluid: rsqrt.
template <class T, class R, int... D>
constexpr auto rsqrt(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::rsqrt>(x, attr.name);
}

/// Returns |x| for each element. Fluid: abs.
template <class T, class R, int... D>
constexpr auto abs(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::abs>(x, attr.name);
}

/// Returns, for each element, the smallest integer that is not below it. Fluid: ceil.
template <class T, class R, int... D>
constexpr auto ceil(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::ceil>(x, attr.name);
}

/// Returns, for each element, the largest integer that is not above it. Fluid: floor.
template <class T, class R, int... D>
constexpr auto floor(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::floor>(x, attr.name);
}

/// Returns the nearest integer to each element; halves are rounded away from zero. Fluid: round.
template <class T, class R, int... D>
constexpr auto round(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::round>(x, attr.name);
}

/// Returns the sine of each element, an angle in radians. Fluid: sin.
template <class T, class R, int... D>
constexpr auto sin(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::sin>(x, attr.name);
}

/// Returns the cosine of each element, an angle in radians. Fluid: cos.
template <class T, class R, int... D>
constexpr auto cos(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::cos>(x, attr.name);
}

/// Returns the arc sine of each element, in radians. Fluid: asin.
template <class T, class R, int... D>
constexpr auto asin(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::asin>(x, attr.name);
}

/// Returns the arc cosine of each element, in radians. Fluid: acos.
template <class T, class R, int... D>
constexpr auto acos(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::acos>(x, attr.name);
}

/// Returns the arc tangent of each element, in radians. Fluid: atan.
template <class T, class R, int... D>
constexpr auto atan(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::atan>(x, attr.name);
}

/// Returns the Gauss error function of each element: 2 / sqrt(pi) times the integral of e^(-t^2)
/// from 0 to x. Fluid: erf.
template <class T, class R, int... D>
constexpr auto erf(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::erf>(x, attr.name);
}

/// Returns 1 / x for each element. Fluid: reciprocal.
template <class T, class R, int... D>
constexpr auto reciprocal(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::reciprocal>(x, attr.name);
}

/// Returns x * x for each element. Fluid: square.
template <class T, class R, int... D>
constexpr auto square(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::square>(x, attr.name);
}

/// Returns the sign of each element: -1, 0 or 1; NaN if the element is NaN. Fluid: sign.
template <class T, class R, int... D>
constexpr auto sign(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::sign>(x, attr.name);
}

}}}  // namespace lamina::layer
