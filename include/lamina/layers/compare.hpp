// SPDX-License-Identifier: Apache-2.0
// lamina/layers/compare.hpp - comparisons and logic.
#pragma once

#include <lamina/layers/elementwise.hpp>
#include <lamina/operators/compare.hpp>

namespace lamina::layer {

/// Options of comparisons and logic.
struct compare_attr {
  std::string_view name{};
};

namespace detail {

template <class Op, class X, class Y>
constexpr void compare_into(X x, Y y, int out, int line) {
  check_operands<-1, X, Y>();
  require_one_program(x, y, line);
  x.builder->add_operator(schema_of<Op>(), {x.id, y.id}, {out});
}

template <class Op, class T, class R, int... D, class Y>
constexpr variable<bool, R, D...> compare(variable<T, R, D...> x, Y y, const compare_attr& attr,
                                          int line) {
  layer_helper layer(*x.builder, Op::type, attr.name);
  const auto z = layer.template output<variable<bool, R, D...>>();
  without_gradient(layer, z.id);
  compare_into<Op>(x, y, z.id, line);
  return layer.returns(z);
}

template <class V>
constexpr void check_bool() {
  constexpr bool logic = __is_same(typename V::value_type, bool);
  static_assert(check<logic, gets_type<V>>, "lamina: logical: the operands are bool");
}

}  // namespace detail

// The shape of y is the shape of x or a part of it, as with the elementwise layers. The form with
// three variables writes into one that exists: the condition of a loop.

/// x < y. Fluid: less_than.
template <class T, class R, int... D, class U, class S, int... E>
constexpr variable<bool, R, D...> less_than(variable<T, R, D...> x, variable<U, S, E...> y,
                                            const compare_attr& attr = {},
                                            int line = __builtin_LINE()) {
  return detail::compare<lamina::less_than>(x, y, attr, line);
}
template <class T, class R, int... D, class U, class S, int... E>
constexpr variable<bool, R, D...> less_than(variable<T, R, D...> x, variable<U, S, E...> y,
                                            variable<bool, R, D...> into,
                                            int line = __builtin_LINE()) {
  detail::compare_into<lamina::less_than>(x, y, into.id, line);
  return into;
}

/// x <= y. Fluid: less_equal.
template <class T, class R, int... D, class U, class S, int... E>
constexpr variable<bool, R, D...> less_equal(variable<T, R, D...> x, variable<U, S, E...> y,
                                             const compare_attr& attr = {},
                                             int line = __builtin_LINE()) {
  return detail::compare<lamina::less_equal>(x, y, attr, line);
}
template <class T, class R, int... D, class U, class S, int... E>
constexpr variable<bool, R, D...> less_equal(variable<T, R, D...> x, variable<U, S, E...> y,
                                             variable<bool, R, D...> into,
                                             int line = __builtin_LINE()) {
  detail::compare_into<lamina::less_equal>(x, y, into.id, line);
  return into;
}

/// x > y. Fluid: greater_than.
template <class T, class R, int... D, class U, class S, int... E>
constexpr variable<bool, R, D...> greater_than(variable<T, R, D...> x, variable<U, S, E...> y,
                                               const compare_attr& attr = {},
                                               int line = __builtin_LINE()) {
  return detail::compare<lamina::greater_than>(x, y, attr, line);
}
template <class T, class R, int... D, class U, class S, int... E>
constexpr variable<bool, R, D...> greater_than(variable<T, R, D...> x, variable<U, S, E...> y,
                                               variable<bool, R, D...> into,
                                               int line = __builtin_LINE()) {
  detail::compare_into<lamina::greater_than>(x, y, into.id, line);
  return into;
}

/// x >= y. Fluid: greater_equal.
template <class T, class R, int... D, class U, class S, int... E>
constexpr variable<bool, R, D...> greater_equal(variable<T, R, D...> x, variable<U, S, E...> y,
                                                const compare_attr& attr = {},
                                                int line = __builtin_LINE()) {
  return detail::compare<lamina::greater_equal>(x, y, attr, line);
}
template <class T, class R, int... D, class U, class S, int... E>
constexpr variable<bool, R, D...> greater_equal(variable<T, R, D...> x, variable<U, S, E...> y,
                                                variable<bool, R, D...> into,
                                                int line = __builtin_LINE()) {
  detail::compare_into<lamina::greater_equal>(x, y, into.id, line);
  return into;
}

/// x == y. Fluid: equal.
template <class T, class R, int... D, class U, class S, int... E>
constexpr variable<bool, R, D...> equal(variable<T, R, D...> x, variable<U, S, E...> y,
                                        const compare_attr& attr = {},
                                        int line = __builtin_LINE()) {
  return detail::compare<lamina::equal>(x, y, attr, line);
}
template <class T, class R, int... D, class U, class S, int... E>
constexpr variable<bool, R, D...> equal(variable<T, R, D...> x, variable<U, S, E...> y,
                                        variable<bool, R, D...> into, int line = __builtin_LINE()) {
  detail::compare_into<lamina::equal>(x, y, into.id, line);
  return into;
}

/// x != y. Fluid: not_equal.
template <class T, class R, int... D, class U, class S, int... E>
constexpr variable<bool, R, D...> not_equal(variable<T, R, D...> x, variable<U, S, E...> y,
                                            const compare_attr& attr = {},
                                            int line = __builtin_LINE()) {
  return detail::compare<lamina::not_equal>(x, y, attr, line);
}
template <class T, class R, int... D, class U, class S, int... E>
constexpr variable<bool, R, D...> not_equal(variable<T, R, D...> x, variable<U, S, E...> y,
                                            variable<bool, R, D...> into,
                                            int line = __builtin_LINE()) {
  detail::compare_into<lamina::not_equal>(x, y, into.id, line);
  return into;
}

/// x and y. Fluid: logical_and.
template <class T, class R, int... D, class U, class S, int... E>
constexpr variable<bool, R, D...> logical_and(variable<T, R, D...> x, variable<U, S, E...> y,
                                              const compare_attr& attr = {},
                                              int line = __builtin_LINE()) {
  detail::check_bool<variable<T, R, D...>>();
  return detail::compare<lamina::logical_and>(x, y, attr, line);
}

/// x or y. Fluid: logical_or.
template <class T, class R, int... D, class U, class S, int... E>
constexpr variable<bool, R, D...> logical_or(variable<T, R, D...> x, variable<U, S, E...> y,
                                             const compare_attr& attr = {},
                                             int line = __builtin_LINE()) {
  detail::check_bool<variable<T, R, D...>>();
  return detail::compare<lamina::logical_or>(x, y, attr, line);
}

/// Either x or y. Fluid: logical_xor.
template <class T, class R, int... D, class U, class S, int... E>
constexpr variable<bool, R, D...> logical_xor(variable<T, R, D...> x, variable<U, S, E...> y,
                                              const compare_attr& attr = {},
                                              int line = __builtin_LINE()) {
  detail::check_bool<variable<T, R, D...>>();
  return detail::compare<lamina::logical_xor>(x, y, attr, line);
}

/// not x. Fluid: logical_not.
template <class T, class R, int... D>
constexpr variable<T, R, D...> logical_not(variable<T, R, D...> x, const compare_attr& attr = {}) {
  detail::check_bool<variable<T, R, D...>>();
  return detail::same_shape<lamina::logical_not>(x, "logical_not", attr.name);
}

}  // namespace lamina::layer
