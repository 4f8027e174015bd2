// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/sum/layer_scale.hpp - a variable times a number, plus a number.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/activation.hpp>
#include <lamina/layers/one_operator.hpp>
#include <lamina/operators/elementwise/sum/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of scale.
struct scale_attr {
  double bias = 0;
  bool bias_after_scale = true;  // false: factor * (x + bias)
  activation act = activation::identity;
  std::string_view name{};
};

/// Returns factor * x + bias. Fluid: scale.
template <class T, class R, int... D>
constexpr variable<T, R, D...> scale(variable<T, R, D...> x, double factor = 1,
                                     const options<scale_attr, T>& attr = {}) {
  program_builder& b = *x.builder;
  layer_helper layer(b, "scale", attr.name);
  const int y = layer.output_like(x.id);
  b.add_operator(schema_of<operators::scale>(), {x.id}, {y},
                 b.attribute_list(factor, attr.bias, attr.bias_after_scale));
  return layer.returns(variable<T, R, D...>{&b, apply_activation(layer, attr.act, y)});
}

}}}  // namespace lamina::layer
