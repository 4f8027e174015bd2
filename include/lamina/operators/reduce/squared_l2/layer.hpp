// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/squared_l2/layer.hpp - l1_norm, squared_l2_norm and squared_l2_distance:
// norms of arrays, and distances of rows.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>
#include <lamina/layers/shape.hpp>
#include <lamina/operators/reduce/squared_l2/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of l1_norm, squared_l2_norm and squared_l2_distance.
struct squared_l2_attr {
  std::string_view name{};
};

namespace detail {
template <class Op, class T, class R, int... D>
constexpr auto whole_norm(variable<T, R, D...> x, const squared_l2_attr& attr) {
  static_assert(check<is_real<T>, gets_type<variable<T, R, D...>>>,
                "lamina: l1_norm, squared_l2_norm: the input is floating point");
  program_builder& b = *x.builder;
  layer_helper layer(b, Op::type, attr.name);
  const auto y = layer.template output<variable<T, once, 1>>();
  b.add_operator(schema_of<Op>(), {x.id}, {y.id});
  return layer.returns(y);
}
}  // namespace detail

/// Returns the sum of |x| over all elements, shape [1]. Fluid: the operator l1_norm.
template <class T, class R, int... D>
constexpr auto l1_norm(variable<T, R, D...> x, const options<squared_l2_attr, T>& attr = {}) {
  return detail::whole_norm<operators::l1_norm>(x, attr);
}

/// Returns the sum of x^2 over all elements, shape [1]. Fluid: the operator squared_l2_norm.
template <class T, class R, int... D>
constexpr auto squared_l2_norm(variable<T, R, D...> x,
                               const options<squared_l2_attr, T>& attr = {}) {
  return detail::whole_norm<operators::squared_l2_norm>(x, attr);
}

/// Returns the squared Euclidean distance |x - y|^2 of each row of x and the same row of y, shape
/// [-1, 1]. y may be a single row [1, ...], from which the distance of each row of x is computed.
/// Fluid: the operator squared_l2_distance.
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto squared_l2_distance(variable<T, R, D...> x, variable<U, S, E...> y,
                                   const options<squared_l2_attr, T>& attr = {},
                                   int line = __builtin_LINE()) {
  using left = variable<T, R, D...>;
  using right = variable<U, S, E...>;
  constexpr bool fits = [] {
    constexpr extents a = whole_shape<left>, c = whole_shape<right>;
    bool same = a.rank > 1 && a.rank == c.rank && detail::is_real<T> && __is_same(T, U);
    for (int d = 1; same && d < a.rank; ++d) same = a.at[d] == c.at[d];
    if (!same || c.at[0] == 1) return same;
    return a.at[0] == c.at[0] && __is_same(R, S);
  }();
  static_assert(check<fits, gets_type<left>, gets_type<right>>,
                "lamina: squared_l2_distance: floating point rows of one shape, on the right one "
                "for each on the left, or one");
  require_one_program(x, y, line);
  program_builder& b = *x.builder;
  layer_helper layer(b, "squared_l2_distance", attr.name);
  const int difference = layer.output_like(x.id);
  constexpr extents a = whole_shape<left>;
  constexpr extents shape{2, {a.at[0], 1}};
  const auto out = layer.template output<handle_of<T, R, shape>>();
  b.add_operator(schema_of<operators::squared_l2_distance>(), {x.id, y.id}, {difference, out.id});
  return layer.returns(out);
}

}}}  // namespace lamina::layer
