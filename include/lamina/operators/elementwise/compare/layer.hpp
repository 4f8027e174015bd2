// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/compare/layer.hpp - comparisons and logical operators.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/elementwise/binary/layer.hpp>
#include <lamina/operators/elementwise/compare/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of comparisons and logical operators.
struct compare_attr {
  std::string_view name{};
};

namespace detail {

template <class Op, class T, class R, int... D, class Y>
constexpr auto compare(variable<T, R, D...> x, Y y, const compare_attr& attr, int line) {
  using in = variable<T, R, D...>;
  using fit = operands<-1, in, Y>;
  static_assert(check<fit::types, expects_type<in>, gets_type<Y>>,
                "lamina: elementwise: both operands have one element type");
  static_assert(check<fit::rows, expects_type<in>, gets_type<Y>>,
                "lamina: elementwise: both operands have the same rows, or one has none");
  static_assert(check<fit::shapes, expects_type<in>, gets_type<Y>>,
                "lamina: elementwise: shapes do not broadcast: from the last dimension on, extents "
                "are equal or one of them is 1");
  require_one_program(x, y, line);
  if constexpr (fit::plain || !fit::shapes) {
    layer_helper layer(*x.builder, Op::type, attr.name);
    const auto z = layer.template output<variable<bool, R, D...>>();
    without_gradient(layer, z.id);
    x.builder->add_operator(schema_of<Op>(), {x.id, y.id}, {z.id});
    return layer.returns(z);
  } else {
    return with_broadcast(
        x, y, [&](auto wide, auto narrow) { return compare<Op>(wide, narrow, attr, line); });
  }
}

/// Records a comparison and lets the existing handle `into` refer to its result.
template <class Op, class X, class Y, class Z>
constexpr auto compare_into(const X& x, const Y& y, Z& into, int line) {
  require_one_program(x, into, line);
  return into = compare<Op>(x, y, {}, line);
}

template <class Op, class X, class Y>
constexpr auto logic(X x, Y y, const compare_attr& attr, int line) {
  constexpr bool logical = __is_same(X, Y) && __is_same(typename X::value_type, bool);
  static_assert(check<logical, gets_type<X, Y>>,
                "lamina: logical: the operands are bool and of one shape");
  require_one_program(x, y, line);
  layer_helper layer(*x.builder, Op::type, attr.name);
  const int z = without_gradient(layer, layer.output_like(x.id));
  x.builder->add_operator(schema_of<Op>(), {x.id, y.id}, {z});
  return layer.returns(X{x.builder, z});
}

}  // namespace detail

// The layers below return a bool per element. x and y broadcast as in the elementwise layers. In
// the form with three variables, the third handle refers to the result after the call, which has
// the shape of x; it may be the condition of a loop.

/// Returns x < y. Fluid: less_than.
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto less_than(variable<T, R, D...> x, variable<U, S, E...> y,
                         const options<compare_attr, T>& attr = {}, int line = __builtin_LINE()) {
  return detail::compare<operators::less_than>(x, y, attr, line);
}
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto less_than(variable<T, R, D...> x, variable<U, S, E...> y,
                         variable<bool, R, D...>& into, int line = __builtin_LINE()) {
  return detail::compare_into<operators::less_than>(x, y, into, line);
}

/// Returns x <= y. Fluid: less_equal.
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto less_equal(variable<T, R, D...> x, variable<U, S, E...> y,
                          const options<compare_attr, T>& attr = {}, int line = __builtin_LINE()) {
  return detail::compare<operators::less_equal>(x, y, attr, line);
}
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto less_equal(variable<T, R, D...> x, variable<U, S, E...> y,
                          variable<bool, R, D...>& into, int line = __builtin_LINE()) {
  return detail::compare_into<operators::less_equal>(x, y, into, line);
}

/// Returns x > y. Fluid: greater_than.
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto greater_than(variable<T, R, D...> x, variable<U, S, E...> y,
                            const options<compare_attr, T>& attr = {},
                            int line = __builtin_LINE()) {
  return detail::compare<operators::greater_than>(x, y, attr, line);
}
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto greater_than(variable<T, R, D...> x, variable<U, S, E...> y,
                            variable<bool, R, D...>& into, int line = __builtin_LINE()) {
  return detail::compare_into<operators::greater_than>(x, y, into, line);
}

/// Returns x >= y. Fluid: greater_equal.
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto greater_equal(variable<T, R, D...> x, variable<U, S, E...> y,
                             const options<compare_attr, T>& attr = {},
                             int line = __builtin_LINE()) {
  return detail::compare<operators::greater_equal>(x, y, attr, line);
}
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto greater_equal(variable<T, R, D...> x, variable<U, S, E...> y,
                             variable<bool, R, D...>& into, int line = __builtin_LINE()) {
  return detail::compare_into<operators::greater_equal>(x, y, into, line);
}

/// Returns x == y. Fluid: equal.
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto equal(variable<T, R, D...> x, variable<U, S, E...> y,
                     const options<compare_attr, T>& attr = {}, int line = __builtin_LINE()) {
  return detail::compare<operators::equal>(x, y, attr, line);
}
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto equal(variable<T, R, D...> x, variable<U, S, E...> y, variable<bool, R, D...>& into,
                     int line = __builtin_LINE()) {
  return detail::compare_into<operators::equal>(x, y, into, line);
}

/// Returns x != y. Fluid: not_equal.
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto not_equal(variable<T, R, D...> x, variable<U, S, E...> y,
                         const options<compare_attr, T>& attr = {}, int line = __builtin_LINE()) {
  return detail::compare<operators::not_equal>(x, y, attr, line);
}
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto not_equal(variable<T, R, D...> x, variable<U, S, E...> y,
                         variable<bool, R, D...>& into, int line = __builtin_LINE()) {
  return detail::compare_into<operators::not_equal>(x, y, into, line);
}

/// Returns x and y. Fluid: logical_and.
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto logical_and(variable<T, R, D...> x, variable<U, S, E...> y,
                           const options<compare_attr, T>& attr = {}, int line = __builtin_LINE()) {
  return detail::logic<operators::logical_and>(x, y, attr, line);
}

/// Returns x or y. Fluid: logical_or.
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto logical_or(variable<T, R, D...> x, variable<U, S, E...> y,
                          const options<compare_attr, T>& attr = {}, int line = __builtin_LINE()) {
  return detail::logic<operators::logical_or>(x, y, attr, line);
}

/// Returns true where exactly one of x and y is true. Fluid: logical_xor.
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto logical_xor(variable<T, R, D...> x, variable<U, S, E...> y,
                           const options<compare_attr, T>& attr = {}, int line = __builtin_LINE()) {
  return detail::logic<operators::logical_xor>(x, y, attr, line);
}

/// Returns not x. Fluid: logical_not.
template <class T, class R, int... D>
constexpr auto logical_not(variable<T, R, D...> x, const options<compare_attr, T>& attr = {}) {
  constexpr bool logical = __is_same(T, bool);
  static_assert(check<logical, gets_type<variable<T, R, D...>>>,
                "lamina: logical_not: the operand is bool");
  return detail::same_shape<operators::logical_not>(x, "logical_not", attr.name);
}

}}}  // namespace lamina::layer
