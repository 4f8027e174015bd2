// SPDX-License-Identifier: Apache-2.0
// lamina/operators/activation/tunable/layer.hpp - layers of the activation functions with
// attributes.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/activation/simple/layer.hpp>
#include <lamina/operators/activation/tunable/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of leaky_relu.
struct leaky_relu_attr {
  float alpha = 0.02f;
  std::string_view name{};
};

/// Returns x if x > 0, else alpha * x. Fluid: leaky_relu.
template <class T, class R, int... D>
constexpr auto leaky_relu(variable<T, R, D...> x, const options<leaky_relu_attr, T>& attr = {}) {
  return detail::activate<operators::leaky_relu>(x, attr.name,
                                                 x.builder->attribute_list(attr.alpha));
}

/// Options of elu.
struct elu_attr {
  float alpha = 1;
  std::string_view name{};
};

/// Returns x if x > 0, else alpha * (e^x - 1). Fluid: elu.
template <class T, class R, int... D>
constexpr auto elu(variable<T, R, D...> x, const options<elu_attr, T>& attr = {}) {
  return detail::activate<operators::elu>(x, attr.name, x.builder->attribute_list(attr.alpha));
}

/// Options of relu6.
struct relu6_attr {
  float threshold = 6;
  std::string_view name{};
};

/// Returns min(max(x, 0), threshold). Fluid: relu6.
template <class T, class R, int... D>
constexpr auto relu6(variable<T, R, D...> x, const options<relu6_attr, T>& attr = {},
                     int line = __builtin_LINE()) {
  x.builder->require_option(attr.threshold >= 0, line, "relu6: threshold >= 0");
  return detail::activate<operators::relu6>(x, attr.name,
                                            x.builder->attribute_list(attr.threshold));
}

/// Options of brelu.
struct brelu_attr {
  float t_min = 0;
  float t_max = 24;
  std::string_view name{};
};

/// Returns min(max(x, t_min), t_max). Fluid: brelu.
template <class T, class R, int... D>
constexpr auto brelu(variable<T, R, D...> x, const options<brelu_attr, T>& attr = {},
                     int line = __builtin_LINE()) {
  x.builder->require_option(attr.t_min <= attr.t_max, line, "brelu: t_min <= t_max");
  return detail::activate<operators::brelu>(x, attr.name,
                                            x.builder->attribute_list(attr.t_min, attr.t_max));
}

/// Options of soft_relu.
struct soft_relu_attr {
  float threshold = 40;
  std::string_view name{};
};

/// Returns log(1 + e^c) with c = x clipped to [-threshold, threshold]. Fluid: soft_relu.
template <class T, class R, int... D>
constexpr auto soft_relu(variable<T, R, D...> x, const options<soft_relu_attr, T>& attr = {},
                         int line = __builtin_LINE()) {
  x.builder->require_option(attr.threshold >= 0, line, "soft_relu: threshold >= 0");
  return detail::activate<operators::soft_relu>(x, attr.name,
                                                x.builder->attribute_list(attr.threshold));
}

/// Options of stanh.
struct stanh_attr {
  float scale_a = 0.67f;
  float scale_b = 1.7159f;
  std::string_view name{};
};

/// Returns scale_b * tanh(scale_a * x). Fluid: stanh.
template <class T, class R, int... D>
constexpr auto stanh(variable<T, R, D...> x, const options<stanh_attr, T>& attr = {}) {
  return detail::activate<operators::stanh>(x, attr.name,
                                            x.builder->attribute_list(attr.scale_a, attr.scale_b));
}

/// Options of hard_sigmoid.
struct hard_sigmoid_attr {
  float slope = 0.2f;
  float offset = 0.5f;
  std::string_view name{};
};

/// Returns slope * x + offset, clipped to [0, 1]. Fluid: hard_sigmoid.
template <class T, class R, int... D>
constexpr auto hard_sigmoid(variable<T, R, D...> x,
                            const options<hard_sigmoid_attr, T>& attr = {}) {
  return detail::activate<operators::hard_sigmoid>(
      x, attr.name, x.builder->attribute_list(attr.slope, attr.offset));
}

/// Options of swish.
struct swish_attr {
  float beta = 1;
  std::string_view name{};
};

/// Returns x / (1 + e^(-beta * x)). Fluid: swish.
template <class T, class R, int... D>
constexpr auto swish(variable<T, R, D...> x, const options<swish_attr, T>& attr = {}) {
  return detail::activate<operators::swish>(x, attr.name, x.builder->attribute_list(attr.beta));
}

/// Options of hard_swish.
struct hard_swish_attr {
  float threshold = 6;
  float scale = 6;
  float offset = 3;
  std::string_view name{};
};

/// Returns x * min(max(x + offset, 0), threshold) / scale. Fluid: hard_swish.
template <class T, class R, int... D>
constexpr auto hard_swish(variable<T, R, D...> x, const options<hard_swish_attr, T>& attr = {},
                          int line = __builtin_LINE()) {
  x.builder->require_option(attr.threshold >= 0 && (attr.scale > 0 || attr.scale < 0), line,
                            "hard_swish: threshold >= 0, scale != 0");
  return detail::activate<operators::hard_swish>(
      x, attr.name, x.builder->attribute_list(attr.threshold, attr.scale, attr.offset));
}

/// Options of pow.
struct pow_attr {
  float factor = 1;
  std::string_view name{};
};

/// Returns x to the power of `factor` as in IEEE 754: 0 to the power of 0 is 1. Fluid: pow.
template <class T, class R, int... D>
constexpr auto pow(variable<T, R, D...> x, const options<pow_attr, T>& attr = {}) {
  return detail::activate<operators::pow>(x, attr.name, x.builder->attribute_list(attr.factor));
}

/// Options of hard_shrink.
struct hard_shrink_attr {
  float threshold = 0.5f;
  std::string_view name{};
};

/// Returns x if |x| > threshold, else 0. Fluid: hard_shrink.
template <class T, class R, int... D>
constexpr auto hard_shrink(variable<T, R, D...> x, const options<hard_shrink_attr, T>& attr = {},
                           int line = __builtin_LINE()) {
  x.builder->require_option(attr.threshold >= 0, line, "hard_shrink: threshold >= 0");
  return detail::activate<operators::hard_shrink>(x, attr.name,
                                                  x.builder->attribute_list(attr.threshold));
}

/// Options of softshrink.
struct softshrink_attr {
  float lambda = 0.5f;
  std::string_view name{};
};

/// Returns x - lambda if x > lambda, x + lambda if x < -lambda, else 0. Fluid: softshrink.
template <class T, class R, int... D>
constexpr auto softshrink(variable<T, R, D...> x, const options<softshrink_attr, T>& attr = {},
                          int line = __builtin_LINE()) {
  x.builder->require_option(attr.lambda >= 0, line, "softshrink: lambda >= 0");
  return detail::activate<operators::softshrink>(x, attr.name,
                                                 x.builder->attribute_list(attr.lambda));
}

/// Options of thresholded_relu.
struct thresholded_relu_attr {
  float threshold = 1;
  std::string_view name{};
};

/// Returns x if x > threshold, else 0. Fluid: thresholded_relu.
template <class T, class R, int... D>
constexpr auto thresholded_relu(variable<T, R, D...> x,
                                const options<thresholded_relu_attr, T>& attr = {}) {
  return detail::activate<operators::thresholded_relu>(x, attr.name,
                                                       x.builder->attribute_list(attr.threshold));
}

}}}  // namespace lamina::layer
