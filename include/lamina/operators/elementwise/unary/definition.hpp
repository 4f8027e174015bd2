// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/unary/definition.hpp - elementary functions of each element x of X.
// Out has the results.
//
// If the gradient of Out (dy) is 0, the gradient of X is 0 even if the derivative is infinite.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/pointwise.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = e^x.
struct exp : pointwise_by_output {
  static constexpr const char* type = "exp";
  static constexpr auto linear = linearity::nonlinear;
  template <class T>
  LAMINA_NUMBER_FN static T f(T x) {
    return math::exp(x);
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T y, T dy) {
    return dy * y;
  }
};

/// Out = the natural logarithm of x.
struct log : pointwise {
  static constexpr const char* type = "log";
  static constexpr auto linear = linearity::nonlinear;
  template <class T>
  LAMINA_NUMBER_FN static T f(T x) {
    return math::log(x);
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T x, T dy) {
    return math::select(dy == T(0), T(0), dy / x);
  }
};

/// Out = the square root of x.
struct sqrt : pointwise_by_output {
  static constexpr const char* type = "sqrt";
  static constexpr auto linear = linearity::nonlinear;
  template <class T>
  LAMINA_NUMBER_FN static T f(T x) {
    return math::sqrt(x);
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T y, T dy) {
    return math::select(dy == T(0), T(0), T(0.5) * dy / y);
  }
};

/// Out = 1 / sqrt(x).
struct rsqrt : pointwise_by_output {
  static constexpr const char* type = "rsqrt";
  static constexpr auto linear = linearity::nonlinear;
  template <class T>
  LAMINA_NUMBER_FN static T f(T x) {
    return T(1) / math::sqrt(x);
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T y, T dy) {
    return math::select(dy == T(0), T(0), T(-0.5) * dy * y * y * y);
  }
};

/// Out = x * x.
struct square : pointwise {
  static constexpr const char* type = "square";
  static constexpr auto linear = linearity::nonlinear;
  template <class T>
  LAMINA_NUMBER_FN static T f(T x) {
    return x * x;
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T x, T dy) {
    // If x is 0, the gradient is 0 even if dy is infinite, as it is after a square root at 0.
    return math::select(x == T(0), T(0), T(2) * x * dy);
  }
};

/// Out = 1 / x.
struct reciprocal : pointwise_by_output {
  static constexpr const char* type = "reciprocal";
  static constexpr auto linear = linearity::nonlinear;
  template <class T>
  LAMINA_NUMBER_FN static T f(T x) {
    return T(1) / x;
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T y, T dy) {
    return math::select(dy == T(0), T(0), -dy * y * y);
  }
};

/// Out = |x|. The gradient at x = 0 is 0.
struct abs : pointwise {
  static constexpr const char* type = "abs";
  template <class T>
  LAMINA_NUMBER_FN static T f(T x) {
    return math::abs(x);
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T x, T dy) {
    return math::select(x > T(0), dy, math::select(x < T(0), -dy, T(0)));
  }
};

/// Out = the sine of x, an angle in radians.
struct sin : pointwise {
  static constexpr const char* type = "sin";
  template <class T>
  LAMINA_NUMBER_FN static T f(T x) {
    return math::sin(x);
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T x, T dy) {
    return dy * math::cos(x);
  }
};

/// Out = the cosine of x, an angle in radians.
struct cos : pointwise {
  static constexpr const char* type = "cos";
  template <class T>
  LAMINA_NUMBER_FN static T f(T x) {
    return math::cos(x);
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T x, T dy) {
    return -dy * math::sin(x);
  }
};

/// Out = the arc sine of x, in radians.
struct asin : pointwise {
  static constexpr const char* type = "asin";
  template <class T>
  LAMINA_NUMBER_FN static T f(T x) {
    return math::asin(x);
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T x, T dy) {
    return math::select(dy == T(0), T(0), dy / math::sqrt((T(1) - x) * (T(1) + x)));
  }
};

/// Out = the arc cosine of x, in radians.
struct acos : pointwise {
  static constexpr const char* type = "acos";
  template <class T>
  LAMINA_NUMBER_FN static T f(T x) {
    return math::acos(x);
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T x, T dy) {
    return math::select(dy == T(0), T(0), -dy / math::sqrt((T(1) - x) * (T(1) + x)));
  }
};

/// Out = the arc tangent of x, in radians.
struct atan : pointwise {
  static constexpr const char* type = "atan";
  template <class T>
  LAMINA_NUMBER_FN static T f(T x) {
    return math::atan(x);
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T x, T dy) {
    return dy / (T(1) + x * x);
  }
};

/// Out = erf(x), the Gauss error function: 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x.
struct erf : pointwise {
  static constexpr const char* type = "erf";
  template <class T>
  LAMINA_NUMBER_FN static T f(T x) {
    return math::erf(x);
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T x, T dy) {
    return dy * math::constant<T>(1.12837916709551257390) * math::exp_in_sum(-x * x);
  }
};

/// Base of the step functions, whose gradient is 0 wherever it exists.
struct step_function : pointwise {
  static constexpr std::uint32_t gradient_inputs = 0;
  template <class T>
  LAMINA_NUMBER_FN static T df(T) {
    return T(0);
  }
};

/// Out = the smallest integer that is not below x.
struct ceil : step_function {
  static constexpr const char* type = "ceil";
  template <class T>
  LAMINA_NUMBER_FN static T f(T x) {
    return math::ceil(x);
  }
};

/// Out = the largest integer that is not above x.
struct floor : step_function {
  static constexpr const char* type = "floor";
  template <class T>
  LAMINA_NUMBER_FN static T f(T x) {
    return math::floor(x);
  }
};

/// Out = the nearest integer to x; halves are rounded away from zero.
struct round : step_function {
  static constexpr const char* type = "round";
  template <class T>
  LAMINA_NUMBER_FN static T f(T x) {
    return math::round(x);
  }
};

/// Out = -1, 0 or 1, the sign of x; NaN if x is NaN.
struct sign : step_function {
  static constexpr const char* type = "sign";
  template <class T>
  LAMINA_NUMBER_FN static T f(T x) {
    return math::sign(x);
  }
};

using elementwise_unary_operators =
    operator_list<exp, log, sqrt, rsqrt, square, reciprocal, abs, sin, cos, asin, acos, atan, erf,
                  ceil, floor, round, sign>;

}}}  // namespace lamina::operators
