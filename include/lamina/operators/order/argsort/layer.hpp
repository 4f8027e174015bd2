// SPDX-License-Identifier: Apache-2.0
// lamina/operators/order/argsort/layer.hpp - argsort, argmax and argmin, which compare elements
// along a dimension.
#pragma once

#include <lamina/core/config.hpp>

#include <tuple>

#include <lamina/layers/one_operator.hpp>
#include <lamina/layers/shape.hpp>
#include <lamina/operators/order/argsort/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of argsort.
struct argsort_attr {
  bool descending = false;  // largest element first
  std::string_view name{};
};
/// Options of argmax and argmin.
struct argmax_attr {
  std::string_view name{};
};

/// Returns the elements sorted along dimension Axis of the shape, including the rows, and their
/// previous positions: `auto [sorted, indices] = argsort(x)`. Equal elements keep their order. NaN
/// counts as larger than all numbers: it comes last in ascending order and first in descending
/// order. Fluid: argsort.
template <int Axis = -1, class T, class R, int... D>
constexpr auto argsort(variable<T, R, D...> x, const options<argsort_attr, T>& attr = {}) {
  using in = variable<T, R, D...>;
  constexpr bool exists = dimension(Axis, whole_shape<in>.rank) >= 0;
  static_assert(check<exists, gets<Axis>, gets_type<in>>,
                "lamina: layer: the axis is a dimension of the input");
  program_builder& b = *x.builder;
  layer_helper layer(b, "argsort", attr.name);
  const in sorted{x.builder, layer.output_like(x.id)};
  const auto indices = layer.template output<variable<std::int64_t, R, D...>>();
  detail::without_gradient(layer, indices.id);
  b.add_operator(schema_of<operators::argsort>(), {x.id}, {sorted.id, indices.id},
                 b.attribute_list(Axis, attr.descending));
  return std::tuple{layer.returns(sorted), indices};
}

namespace detail {

template <class Op, int Axis, class T, class R, int... D>
constexpr auto position_of_extreme(variable<T, R, D...> x, const argmax_attr& attr) {
  using in = variable<T, R, D...>;
  constexpr extents whole = whole_shape<in>;
  constexpr int axis = dimension(Axis, whole.rank);
  constexpr bool exists = axis >= 0;
  static_assert(check<exists, gets<Axis>, gets_type<in>>,
                "lamina: argmax, argmin: the axis is a dimension of the input");
  constexpr extents shape = without_dimension(whole, axis);
  program_builder& b = *x.builder;
  layer_helper layer(b, Op::type, attr.name);
  const auto y = layer.template output<handle_of<std::int64_t, R, shape>>();
  without_gradient(layer, y.id);
  b.add_operator(schema_of<Op>(), {x.id}, {y.id}, b.attribute_list(Axis, false));
  return layer.returns(y);
}

}  // namespace detail

/// Returns the index (int64) of the largest element along dimension Axis of the shape, including
/// the rows: `argmax<1>(scores)`. Axis 0 is the rows. Among equal elements, returns the index of
/// the first. Fluid: argmax.
template <int Axis = 0, class T, class R, int... D>
constexpr auto argmax(variable<T, R, D...> x, const options<argmax_attr, T>& attr = {}) {
  return detail::position_of_extreme<operators::arg_max, Axis>(x, attr);
}

/// Returns the index of the smallest element, as argmax does for the largest. Fluid: argmin.
template <int Axis = 0, class T, class R, int... D>
constexpr auto argmin(variable<T, R, D...> x, const options<argmax_attr, T>& attr = {}) {
  return detail::position_of_extreme<operators::arg_min, Axis>(x, attr);
}

}}}  // namespace lamina::layer
