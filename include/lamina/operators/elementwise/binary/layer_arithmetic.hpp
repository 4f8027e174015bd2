// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/binary/layer_arithmetic.hpp - the operators + - * / of variables and
// numbers. They record the same operators as the elementwise layers and `scale`, with results
// "tmp_0", "tmp_1", ..., as Fluid's overloaded operators do.
#pragma once

#include <lamina/core/config.hpp>

#include <type_traits>

#include <lamina/operators/elementwise/binary/layer.hpp>
#include <lamina/operators/elementwise/sum/definition.hpp>
#include <lamina/operators/elementwise/unary/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

template <class V>
constexpr V tmp_like(V x) {
  program_builder& b = *x.builder;
  const variable_desc v = b.variables[x.id];
  const int name = b.layer_name("tmp", {});
  return {&b, b.add_variable(name, "", -1, v.dims, v.rank, v.rows, v.type)};
}

template <class Op, class X, class Y>
constexpr auto operate(X x, Y y) {
  using fit = layer::detail::operands<-1, X, Y>;
  static_assert(check<fit::types, expects_type<X>, gets_type<Y>>,
                "lamina: elementwise: both operands have one element type");
  static_assert(check<fit::rows, expects_type<X>, gets_type<Y>>,
                "lamina: elementwise: both operands have the same rows, or one has none");
  static_assert(check<fit::shapes, expects_type<X>, gets_type<Y>>,
                "lamina: elementwise: shapes do not broadcast: from the last dimension on, extents "
                "are equal or one of them is 1");
  // Errors of these operators do not report the line, because an overloaded operator cannot have a
  // default argument that provides the line.
  layer::require_one_program(x, y, 0);
  if constexpr (fit::plain || !fit::shapes) {
    const X out = tmp_like(x);
    x.builder->add_operator(schema_of<Op>(), {x.id, y.id}, {out.id});
    return out;
  } else {
    return layer::detail::with_broadcast(
        x, y, [](auto wide, auto narrow) { return operate<Op>(wide, narrow); });
  }
}

template <class V>
constexpr V scaled(V x, double factor, double bias) {
  const V out = tmp_like(x);
  x.builder->add_operator(schema_of<operators::scale>(), {x.id}, {out.id},
                          x.builder->attribute_list(factor, bias, true));
  return out;
}

/// Whether Y may be the other operand of an expression with a variable: a variable, or a type that
/// converts to a number.
template <class Y>
inline constexpr bool is_operand = is_variable<Y> || std::is_convertible_v<const Y&, double>;

}  // namespace detail

/// Rejects `if (x > 0)` with a one-line error, because the value of x is not known while a program
/// is recorded.
template <class T, class R, int... D, class Y>
constexpr int operator<=>(variable<T, R, D...>, const Y&) {
  static_assert(never<Y>,
                "lamina: comparison: a variable has no value while a program is recorded; "
                "layer::less_than and the like compare, layer::if_else and layer::cond choose");
  return 0;
}
template <class T, class R, int... D, class Y>
constexpr bool operator==(variable<T, R, D...>, const Y&) {
  static_assert(never<Y>,
                "lamina: comparison: a variable has no value while a program is recorded; "
                "layer::less_than and the like compare, layer::if_else and layer::cond choose");
  return false;
}

/// elementwise_add.
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto operator+(variable<T, R, D...> x, variable<U, S, E...> y) {
  return detail::operate<operators::elementwise_add>(x, y);
}
/// elementwise_sub.
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto operator-(variable<T, R, D...> x, variable<U, S, E...> y) {
  return detail::operate<operators::elementwise_sub>(x, y);
}
/// elementwise_mul.
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto operator*(variable<T, R, D...> x, variable<U, S, E...> y) {
  return detail::operate<operators::elementwise_mul>(x, y);
}
/// elementwise_div.
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto operator/(variable<T, R, D...> x, variable<U, S, E...> y) {
  return detail::operate<operators::elementwise_div>(x, y);
}
/// x + number, as `scale`.
template <class T, class R, int... D>
constexpr auto operator+(variable<T, R, D...> x, double number) {
  return detail::scaled(x, 1, number);
}
/// number + x, as `scale`.
template <class T, class R, int... D>
constexpr auto operator+(double number, variable<T, R, D...> x) {
  return detail::scaled(x, 1, number);
}
/// x - number, as `scale`.
template <class T, class R, int... D>
constexpr auto operator-(variable<T, R, D...> x, double number) {
  return detail::scaled(x, 1, -number);
}
/// number - x, as `scale`.
template <class T, class R, int... D>
constexpr auto operator-(double number, variable<T, R, D...> x) {
  return detail::scaled(x, -1, number);
}
/// -x, as `scale`.
template <class T, class R, int... D>
constexpr auto operator-(variable<T, R, D...> x) {
  return detail::scaled(x, -1, 0);
}
/// x * number, as `scale`.
template <class T, class R, int... D>
constexpr auto operator*(variable<T, R, D...> x, double number) {
  return detail::scaled(x, number, 0);
}
/// number * x, as `scale`.
template <class T, class R, int... D>
constexpr auto operator*(double number, variable<T, R, D...> x) {
  return detail::scaled(x, number, 0);
}
/// x / number, as `scale`. Integers are not supported, because `scale` would round them.
template <class T, class R, int... D>
constexpr auto operator/(variable<T, R, D...> x, double number) {
  constexpr bool real = layer::detail::is_real<T>;
  static_assert(check<real, gets_type<variable<T, R, D...>>>,
                "lamina: operator/: only floating point is divided by a number");
  return detail::scaled(x, 1 / number, 0);
}
/// number / x, as `reciprocal` and `scale`.
template <class T, class R, int... D>
constexpr auto operator/(double number, variable<T, R, D...> x) {
  constexpr bool real = layer::detail::is_real<T>;
  static_assert(check<real, gets_type<variable<T, R, D...>>>,
                "lamina: operator/: a number is divided by floating point only");
  const auto inverse = detail::tmp_like(x);
  x.builder->add_operator(schema_of<operators::reciprocal>(), {x.id}, {inverse.id});
  return detail::scaled(inverse, number, 0);
}

// Overloads for an operand that is neither a variable nor a number. Each operator repeats the
// assertion, because an error message lists every function on the way to the assertion.
template <class T, class R, int... D, class Y>
requires(!detail::is_operand<Y>) constexpr auto operator+(variable<T, R, D...> x, const Y&) {
  static_assert(check<never<Y>, gets_type<Y>>,
                "lamina: operator: expected a variable or a number beside a variable");
  return x;
}
template <class T, class R, int... D, class Y>
requires(!detail::is_operand<Y>) constexpr auto operator+(const Y&, variable<T, R, D...> x) {
  static_assert(check<never<Y>, gets_type<Y>>,
                "lamina: operator: expected a variable or a number beside a variable");
  return x;
}
template <class T, class R, int... D, class Y>
requires(!detail::is_operand<Y>) constexpr auto operator-(variable<T, R, D...> x, const Y&) {
  static_assert(check<never<Y>, gets_type<Y>>,
                "lamina: operator: expected a variable or a number beside a variable");
  return x;
}
template <class T, class R, int... D, class Y>
requires(!detail::is_operand<Y>) constexpr auto operator-(const Y&, variable<T, R, D...> x) {
  static_assert(check<never<Y>, gets_type<Y>>,
                "lamina: operator: expected a variable or a number beside a variable");
  return x;
}
template <class T, class R, int... D, class Y>
requires(!detail::is_operand<Y>) constexpr auto operator*(variable<T, R, D...> x, const Y&) {
  static_assert(check<never<Y>, gets_type<Y>>,
                "lamina: operator: expected a variable or a number beside a variable");
  return x;
}
template <class T, class R, int... D, class Y>
requires(!detail::is_operand<Y>) constexpr auto operator*(const Y&, variable<T, R, D...> x) {
  static_assert(check<never<Y>, gets_type<Y>>,
                "lamina: operator: expected a variable or a number beside a variable");
  return x;
}
template <class T, class R, int... D, class Y>
requires(!detail::is_operand<Y>) constexpr auto operator/(variable<T, R, D...> x, const Y&) {
  static_assert(check<never<Y>, gets_type<Y>>,
                "lamina: operator: expected a variable or a number beside a variable");
  return x;
}
template <class T, class R, int... D, class Y>
requires(!detail::is_operand<Y>) constexpr auto operator/(const Y&, variable<T, R, D...> x) {
  static_assert(check<never<Y>, gets_type<Y>>,
                "lamina: operator: expected a variable or a number beside a variable");
  return x;
}

}}  // namespace lamina
