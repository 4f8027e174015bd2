// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/binary/layer_arithmetic.hpp - the operators + - * / of variables and
// numbers. They record the same operators as the elementwise layers and `scale`. Their results are
// named "tmp_0", "tmp_1", ..., as in Fluid.
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

/// Whether Y may be the other operand of an arithmetic operator with a variable: Y is a variable or
/// converts to a number.
template <class Y>
inline constexpr bool is_operand = is_variable<Y> || std::is_convertible_v<const Y&, double>;

}  // namespace detail

/// Rejects `if (x > 0)` with an error of one line: the value of x is not known while a program is
/// recorded.
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

/// Returns elementwise_add(x, y).
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto operator+(variable<T, R, D...> x, variable<U, S, E...> y) {
  return detail::operate<operators::elementwise_add>(x, y);
}
/// Returns elementwise_sub(x, y).
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto operator-(variable<T, R, D...> x, variable<U, S, E...> y) {
  return detail::operate<operators::elementwise_sub>(x, y);
}
/// Returns elementwise_mul(x, y).
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto operator*(variable<T, R, D...> x, variable<U, S, E...> y) {
  return detail::operate<operators::elementwise_mul>(x, y);
}
/// Returns elementwise_div(x, y).
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto operator/(variable<T, R, D...> x, variable<U, S, E...> y) {
  return detail::operate<operators::elementwise_div>(x, y);
}
/// Returns x + number; records a `scale`.
template <class T, class R, int... D>
constexpr auto operator+(variable<T, R, D...> x, double number) {
  return detail::scaled(x, 1, number);
}
/// Returns number + x; records a `scale`.
template <class T, class R, int... D>
constexpr auto operator+(double number, variable<T, R, D...> x) {
  return detail::scaled(x, 1, number);
}
/// Returns x - number; records a `scale`.
template <class T, class R, int... D>
constexpr auto operator-(variable<T, R, D...> x, double number) {
  return detail::scaled(x, 1, -number);
}
/// Returns number - x; records a `scale`.
template <class T, class R, int... D>
constexpr auto operator-(double number, variable<T, R, D...> x) {
  return detail::scaled(x, -1, number);
}
/// Returns -x; records a `scale`.
template <class T, class R, int... D>
constexpr auto operator-(variable<T, R, D...> x) {
  return detail::scaled(x, -1, 0);
}
/// Returns x * number; records a `scale`.
template <class T, class R, int... D>
constexpr auto operator*(variable<T, R, D...> x, double number) {
  return detail::scaled(x, number, 0);
}
/// Returns number * x; records a `scale`.
template <class T, class R, int... D>
constexpr auto operator*(double number, variable<T, R, D...> x) {
  return detail::scaled(x, number, 0);
}
/// Returns x / number; records a `scale`. x must not have integers, because `scale` would round the
/// results.
template <class T, class R, int... D>
constexpr auto operator/(variable<T, R, D...> x, double number) {
  constexpr bool real = layer::detail::is_real<T>;
  static_assert(check<real, gets_type<variable<T, R, D...>>>,
                "lamina: operator/: only floating point is divided by a number");
  return detail::scaled(x, 1 / number, 0);
}
/// Returns number / x; records a `reciprocal` and a `scale`.
template <class T, class R, int... D>
constexpr auto operator/(double number, variable<T, R, D...> x) {
  constexpr bool real = layer::detail::is_real<T>;
  static_assert(check<real, gets_type<variable<T, R, D...>>>,
                "lamina: operator/: a number is divided by floating point only");
  const auto inverse = detail::tmp_like(x);
  x.builder->add_operator(schema_of<operators::reciprocal>(), {x.id}, {inverse.id});
  return detail::scaled(inverse, number, 0);
}

// These overloads report an operand that is neither a variable nor a number. Each of them repeats
// the assertion, because a function with the assertion would lengthen the error message: a compiler
// lists every function between the user's line and the assertion.
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
