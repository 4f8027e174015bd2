// SPDX-License-Identifier: Apache-2.0
// lamina/operators/activation/simple/layer_gelu.hpp - gelu and selu.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/activation/simple/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of gelu.
struct gelu_attr {
  bool approximate = false;  // false: computes erf; true: tanh
  std::string_view name{};
};

/// Returns x / 2 * (1 + erf(x / sqrt(2))), or its approximation by tanh. Fluid: gelu.
template <class T, class R, int... D>
constexpr auto gelu(variable<T, R, D...> x, const options<gelu_attr, T>& attr = {}) {
  return detail::activate<operators::gelu>(x, attr.name,
                                           x.builder->attribute_list(attr.approximate));
}

/// Options of selu.
struct selu_attr {
  float scale = 1.0507009873554805f;
  float alpha = 1.6732632423543772f;
  std::string_view name{};
};

/// Returns scale * (x if x > 0, else alpha * (e^x - 1)). Fluid: selu.
template <class T, class R, int... D>
constexpr auto selu(variable<T, R, D...> x, const options<selu_attr, T>& attr = {}) {
  return detail::activate<operators::selu>(x, attr.name,
                                           x.builder->attribute_list(attr.scale, attr.alpha));
}

}}}  // namespace lamina::layer
