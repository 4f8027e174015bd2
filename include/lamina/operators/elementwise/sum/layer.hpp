// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/sum/layer.hpp - the sum of several variables, and scale: a variable
// times a number, plus a number.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/activation.hpp>
#include <lamina/layers/one_operator.hpp>
#include <lamina/operators/elementwise/sum/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of sum.
struct sum_attr {
  std::string_view name{};
};

/// Returns inputs[0] + inputs[1] + ...: `sum({a, b, c})`. All inputs must have the same type.
/// Fluid: sums.
template <class V, std::size_t N>
constexpr V sum(const V (&inputs)[N], const options<sum_attr, V>& attr = {},
                int line = __builtin_LINE()) {
  program_builder& b = *inputs[0].builder;
  int ids[N];
  for (std::size_t i = 0; i < N; ++i) {
    require_one_program(inputs[0], inputs[i], line);
    ids[i] = inputs[i].id;
  }
  layer_helper layer(b, "sum", attr.name);
  const int y = layer.output_like(ids[0]);
  detail::add_with_inputs(b, schema_of<operators::sum>(), ids, static_cast<int>(N), y);
  return layer.returns(V{&b, y});
}

/// Returns x - y. x and y must have the same shape. Fluid: the operator minus.
template <class X, class Y>
constexpr auto minus(X x, Y y, const options<sum_attr, X>& attr = {}, int line = __builtin_LINE()) {
  constexpr bool same = __is_same(X, Y);
  static_assert(check<same, expects_type<X>, gets_type<Y>>,
                "lamina: minus: both sides have one shape, one element type and the same rows");
  require_one_program(x, y, line);
  program_builder& b = *x.builder;
  layer_helper layer(b, "minus", attr.name);
  const int out = layer.output_like(x.id);
  b.add_operator(schema_of<operators::minus>(), {x.id, y.id}, {out});
  return layer.returns(X{&b, out});
}

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
