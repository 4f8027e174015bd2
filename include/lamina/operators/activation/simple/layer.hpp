// SPDX-License-Identifier: Apache-2.0
// lamina/operators/activation/simple/layer.hpp - the activation functions without parameters; gelu
// and selu have attributes.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/activation.hpp>
#include <lamina/layers/one_operator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

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

/// Returns max(x, 0). Fluid: relu.
template <class T, class R, int... D>
constexpr auto relu(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::relu>(x, attr.name);
}

/// Returns (e^x - e^-x) / (e^x + e^-x). Fluid: tanh.
template <class T, class R, int... D>
constexpr auto tanh(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::tanh>(x, attr.name);
}

/// Returns 1 / (1 + e^-x). Fluid: sigmoid.
template <class T, class R, int... D>
constexpr auto sigmoid(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::sigmoid>(x, attr.name);
}

/// Returns log(1 / (1 + e^-x)). Fluid: logsigmoid.
template <class T, class R, int... D>
constexpr auto logsigmoid(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::logsigmoid>(x, attr.name);
}

/// Returns log(1 + e^x). Fluid: softplus.
template <class T, class R, int... D>
constexpr auto softplus(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::softplus>(x, attr.name);
}

/// Returns x / (1 + |x|). Fluid: softsign.
template <class T, class R, int... D>
constexpr auto softsign(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::softsign>(x, attr.name);
}

/// Returns x - tanh(x). Fluid: tanh_shrink.
template <class T, class R, int... D>
constexpr auto tanh_shrink(variable<T, R, D...> x, const options<activation_attr, T>& attr = {}) {
  return detail::activate<operators::tanh_shrink>(x, attr.name);
}

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

/// Options of mish.
struct mish_attr {
  float threshold = 20;  // above it, softplus(x) counts as x; at least 0
  std::string_view name{};
};

/// Returns x * tanh(softplus(x)). Source: Misra 2019. Fluid, PyTorch, Keras: mish.
template <class T, class R, int... D>
constexpr auto mish(variable<T, R, D...> x, const options<mish_attr, T>& attr = {},
                    int line = __builtin_LINE()) {
  x.builder->require_option(attr.threshold >= 0, line, "mish: threshold >= 0");
  return detail::activate<operators::mish>(x, attr.name, x.builder->attribute_list(attr.threshold));
}

}}}  // namespace lamina::layer
