// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/binary/layer.hpp - elementwise sums, products and other functions of
// two variables.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/activation.hpp>
#include <lamina/layers/broadcast.hpp>
#include <lamina/layers/one_operator.hpp>
#include <lamina/layers/shape.hpp>
#include <lamina/operators/elementwise/binary/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of the elementwise layers.
struct elementwise_attr {
  activation act = activation::identity;
  std::string_view name{};
};

namespace detail {

/// Whether Y's shape, without trailing ones, equals the dimensions of X from `axis` on.
constexpr bool broadcasts(const extents& x, const extents& y, int axis) {
  const int begin = axis < 0 ? x.rank - y.rank : axis;
  int rank = y.rank;
  while (rank > 0 && y.at[rank - 1] == 1) --rank;
  if (rank == 0) return true;
  if (begin < 0 || begin + rank > x.rank) return false;
  for (int i = 0; i < rank; ++i)
    if (y.at[i] != x.at[begin + i]) return false;
  return true;
}

/// The conditions that two operands must meet. If a condition fails, the conditions after it count
/// as met, so that the compiler reports only the first mistake.
template <int Axis, class X, class Y>
struct operands {
  using rows_x = typename X::rows_type;
  using rows_y = typename Y::rows_type;
  static constexpr bool types = __is_same(typename X::value_type, typename Y::value_type);
  static constexpr bool rows =
      !types || __is_same(rows_x, rows_y) || !has_rows<rows_y> || (Axis == -1 && !has_rows<rows_x>);
  /// Whether the operator itself broadcasts: y is a part of x, as in Fluid.
  static constexpr bool plain =
      !types || !rows ||
      ((has_rows<rows_x> || !has_rows<rows_y>)&&broadcasts(whole_shape<X>, whole_shape<Y>, Axis));
  static constexpr bool shapes =
      plain || (Axis == -1 && broadcast_shape(whole_shape<X>, whole_shape<Y>).rank > 0);
};

template <class Op, int Axis, class X, class Y>
constexpr auto elementwise(X x, Y y, const elementwise_attr& attr, int line) {
  using fit = operands<Axis, X, Y>;
  static_assert(check<fit::types, expects_type<X>, gets_type<Y>>,
                "lamina: elementwise: both operands have one element type");
  static_assert(check<fit::rows, expects_type<X>, gets_type<Y>>,
                "lamina: elementwise: both operands have the same rows, or one has none");
  static_assert(check<fit::shapes, expects_type<X>, gets_type<Y>>,
                "lamina: elementwise: shapes do not broadcast: from the last dimension on, extents "
                "are equal or one of them is 1");
  require_one_program(x, y, line);
  if constexpr (fit::plain || !fit::shapes) {
    program_builder& b = *x.builder;
    layer_helper layer(b, Op::type, attr.name);
    const int out = layer.output_like(x.id);
    b.add_operator(schema_of<Op>(), {x.id, y.id}, {out}, Axis == -1 ? -1 : b.attribute_list(Axis));
    return layer.returns(X{&b, apply_activation(layer, attr.act, out)});
  } else {
    return with_broadcast(x, y, [&](auto wide, auto narrow) {
      return elementwise<Op, -1>(wide, narrow, attr, line);
    });
  }
}

}  // namespace detail

// With Axis -1, operands of different shapes broadcast as in NumPy: from the last dimension of the
// whole shapes on, two extents are equal or one of them is 1, and the result has the larger one. An
// operand without rows is used for each row. Where y is not a trailing part of x, `expand` copies
// an operand to the shape of the result first. With another Axis, y's shape without trailing ones
// is the part of x's shape that begins at this dimension, as in Fluid.

/// Returns x + y. Fluid: elementwise_add.
template <int Axis = -1, class T, class R, int... D, class U, class S, int... E>
constexpr auto elementwise_add(variable<T, R, D...> x, variable<U, S, E...> y,
                               const options<elementwise_attr, T>& attr = {},
                               int line = __builtin_LINE()) {
  return detail::elementwise<operators::elementwise_add, Axis>(x, y, attr, line);
}

/// Returns x - y. Fluid: elementwise_sub.
template <int Axis = -1, class T, class R, int... D, class U, class S, int... E>
constexpr auto elementwise_sub(variable<T, R, D...> x, variable<U, S, E...> y,
                               const options<elementwise_attr, T>& attr = {},
                               int line = __builtin_LINE()) {
  return detail::elementwise<operators::elementwise_sub, Axis>(x, y, attr, line);
}

/// Returns x * y. Fluid: elementwise_mul.
template <int Axis = -1, class T, class R, int... D, class U, class S, int... E>
constexpr auto elementwise_mul(variable<T, R, D...> x, variable<U, S, E...> y,
                               const options<elementwise_attr, T>& attr = {},
                               int line = __builtin_LINE()) {
  return detail::elementwise<operators::elementwise_mul, Axis>(x, y, attr, line);
}

/// Returns x / y. Fluid: elementwise_div.
template <int Axis = -1, class T, class R, int... D, class U, class S, int... E>
constexpr auto elementwise_div(variable<T, R, D...> x, variable<U, S, E...> y,
                               const options<elementwise_attr, T>& attr = {},
                               int line = __builtin_LINE()) {
  return detail::elementwise<operators::elementwise_div, Axis>(x, y, attr, line);
}

/// Returns the larger of x and y. If they are equal, x gets the gradient; in Fluid, y gets it.
/// Fluid: elementwise_max.
template <int Axis = -1, class T, class R, int... D, class U, class S, int... E>
constexpr auto elementwise_max(variable<T, R, D...> x, variable<U, S, E...> y,
                               const options<elementwise_attr, T>& attr = {},
                               int line = __builtin_LINE()) {
  return detail::elementwise<operators::elementwise_max, Axis>(x, y, attr, line);
}

/// Returns the smaller of x and y. If they are equal, x gets the gradient; in Fluid, y gets it.
/// Fluid: elementwise_min.
template <int Axis = -1, class T, class R, int... D, class U, class S, int... E>
constexpr auto elementwise_min(variable<T, R, D...> x, variable<U, S, E...> y,
                               const options<elementwise_attr, T>& attr = {},
                               int line = __builtin_LINE()) {
  return detail::elementwise<operators::elementwise_min, Axis>(x, y, attr, line);
}

/// Returns x to the power of y. Integers are multiplied exactly and wrap around; a negative power
/// of an integer is 0, except for the integers 1 and -1. Fluid: elementwise_pow.
template <int Axis = -1, class T, class R, int... D, class U, class S, int... E>
constexpr auto elementwise_pow(variable<T, R, D...> x, variable<U, S, E...> y,
                               const options<elementwise_attr, T>& attr = {},
                               int line = __builtin_LINE()) {
  return detail::elementwise<operators::elementwise_pow, Axis>(x, y, attr, line);
}

/// Returns the remainder of x / y, with the sign of y. The remainder is exact for any x and has no
/// gradient. If an integer is divided by 0, the run fails. Fluid: elementwise_mod.
template <int Axis = -1, class T, class R, int... D, class U, class S, int... E>
constexpr auto elementwise_mod(variable<T, R, D...> x, variable<U, S, E...> y,
                               const options<elementwise_attr, T>& attr = {},
                               int line = __builtin_LINE()) {
  return detail::elementwise<operators::elementwise_mod, Axis>(x, y, attr, line);
}

/// Returns floor(x / y). If an integer is divided by 0, the run fails; the smallest integer divided
/// by -1 is itself. Fluid: elementwise_floordiv.
template <int Axis = -1, class T, class R, int... D, class U, class S, int... E>
constexpr auto elementwise_floordiv(variable<T, R, D...> x, variable<U, S, E...> y,
                                    const options<elementwise_attr, T>& attr = {},
                                    int line = __builtin_LINE()) {
  return detail::elementwise<operators::elementwise_floordiv, Axis>(x, y, attr, line);
}

/// Returns x where the mask y is not 0, else 0. Unlike x * y, the result and the gradient of x are
/// 0 where y is 0, even if x is NaN or infinite there. The mask gets no gradient. Fluid has no such
/// layer; for finite x and a mask of zeros and ones, elementwise_mul computes the same.
template <int Axis = -1, class T, class R, int... D, class U, class S, int... E>
constexpr auto elementwise_keep(variable<T, R, D...> x, variable<U, S, E...> y,
                                const options<elementwise_attr, T>& attr = {},
                                int line = __builtin_LINE()) {
  return detail::elementwise<operators::elementwise_keep, Axis>(x, y, attr, line);
}

}}}  // namespace lamina::layer
