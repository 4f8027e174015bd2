// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/binary/definition.hpp - elementwise_* of two variables. Y is
// broadcast to X by Fluid's attribute `axis`: the shape of Y, without trailing ones, must equal the
// dimensions of X from `axis` on, and an axis of -1 means rank(X) - rank(Y).
#pragma once

#include <lamina/core/config.hpp>

#include <type_traits>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/core/numbers/remainder.hpp>
#include <lamina/core/numbers/wrapping.hpp>
#include <lamina/operators/pointwise.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Base of the elementwise operators: Out = f(X, Y).
struct elementwise : pointwise {
  static constexpr auto inputs = slots_xy;
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"axis", attribute_type::integer, -1}}};
  static constexpr int scalars = 0;
  static constexpr std::uint32_t differentiable = 3;
  static constexpr std::uint32_t gradient_inputs = 3;
  static constexpr bool broadcasts = true;
};

/// Out = X + Y.
struct elementwise_add : elementwise {
  static constexpr const char* type = "elementwise_add";
  static constexpr std::uint32_t gradient_inputs = 0;
  static constexpr auto linear = linearity::linear;
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T y) {
    return math::wrapping_sum(x, y);
  }
  template <int Slot, class T>
  LAMINA_NUMBER_FN static T df(T dy) {
    return dy;
  }
};

/// Out = X - Y.
struct elementwise_sub : elementwise {
  static constexpr const char* type = "elementwise_sub";
  static constexpr std::uint32_t gradient_inputs = 0;
  static constexpr auto linear = linearity::linear;
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T y) {
    return math::wrapping_difference(x, y);
  }
  template <int Slot, class T>
  LAMINA_NUMBER_FN static T df(T dy) {
    if constexpr (Slot == 0)
      return dy;
    else
      return -dy;
  }
};

/// Out = X * Y.
struct elementwise_mul : elementwise {
  static constexpr const char* type = "elementwise_mul";
  static constexpr auto linear = linearity::product;
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T y) {
    return math::wrapping_product(x, y);
  }
  template <int Slot, class T>
  LAMINA_NUMBER_FN static T df(T x, T y, T dy) {
    if constexpr (Slot == 0)
      return dy * y;
    else
      return dy * x;
  }
};

/// Out = X / Y.
struct elementwise_div : elementwise {
  static constexpr const char* type = "elementwise_div";
  static constexpr auto linear = linearity::quotient;
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T y) {
    return math::quotient(x, y);
  }
  template <int Slot, class T>
  LAMINA_NUMBER_FN static T df(T x, T y, T dy) {
    // If dy is 0, the gradient is 0 even if y is 0. The gradient of y is divided by y twice,
    // because y * y may overflow or underflow.
    const T inverse = T(1) / y;
    const T grad = math::select(dy == T(0), T(0), dy * inverse);
    if constexpr (Slot == 0)
      return grad;
    else
      return math::select(dy == T(0), T(0), -grad * (x * inverse));
  }
};

/// Out = max(X, Y); NaN if either is NaN. If both are equal, X gets the gradient.
struct elementwise_max : elementwise {
  static constexpr const char* type = "elementwise_max";
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T y) {
    return math::maximum(x, y);
  }
  template <int Slot, class T>
  LAMINA_NUMBER_FN static T df(T x, T y, T dy) {
    if constexpr (Slot == 0)
      return math::select(math::is_above(y, x), T(0), dy);
    else
      return math::select(math::is_above(y, x), dy, T(0));
  }
};

/// Out = min(X, Y); NaN if either is NaN. If both are equal, X gets the gradient.
struct elementwise_min : elementwise {
  static constexpr const char* type = "elementwise_min";
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T y) {
    return math::minimum(x, y);
  }
  template <int Slot, class T>
  LAMINA_NUMBER_FN static T df(T x, T y, T dy) {
    if constexpr (Slot == 0)
      return math::select(math::is_below(y, x), T(0), dy);
    else
      return math::select(math::is_below(y, x), dy, T(0));
  }
};

/// Out = X to the power of Y as defined by IEEE 754. If X is 0 and Y is not negative, the gradient
/// of Y is 0. Integers are multiplied exactly and wrap around.
struct elementwise_pow : elementwise {
  static constexpr const char* type = "elementwise_pow";
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T y) {
    if constexpr (std::is_integral_v<T>)
      return math::whole_power(x, y);
    else
      return math::pow(x, y);
  }
  template <int Slot, class T>
  LAMINA_NUMBER_FN static T df(T x, T y, T dy) {
    // If dy is 0, the gradient is 0, even if the power or the logarithm is infinite.
    if constexpr (Slot == 0) {
      const T grad = dy * y;
      return math::select(grad == T(0), T(0), grad * math::pow(x, y - T(1)));
    } else {
      const T grad = dy * math::pow(x, y);
      return math::select(
          grad == T(0), T(0),
          math::select(x == T(0), math::select(y < T(0), -grad, T(0)), grad * math::log(x)));
    }
  }
};

/// Out = the remainder of X / Y, between 0 and Y and with the sign of Y. The result is exact, even
/// if the quotient is too large for the element type. For Y = 0, the result is NaN; with integers,
/// the run fails.
struct elementwise_mod : elementwise {
  static constexpr const char* type = "elementwise_mod";
  static constexpr std::uint32_t differentiable = 0;
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T y) {
    return math::remainder(x, y);
  }
};

/// Out = floor(X / Y). The smallest integer divided by -1 wraps around to itself; if an integer is
/// divided by 0, the run fails.
struct elementwise_floordiv : elementwise {
  static constexpr const char* type = "elementwise_floordiv";
  static constexpr std::uint32_t differentiable = 0;
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T y) {
    return math::floored_quotient(x, y);
  }
};

/// Out = X where Y is not 0, else 0. Unlike X * Y, the result and the gradient are 0 where Y is 0,
/// even if X is NaN or infinite there. Y, the mask, has no gradient.
struct elementwise_keep : elementwise {
  static constexpr const char* type = "elementwise_keep";
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 2;
  static constexpr auto linear = linearity::product;
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T y) {
    return math::select(y == T(0), T(0), x);
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T y, T dy) {
    return math::select(y == T(0), T(0), dy);
  }
};

using elementwise_binary_operators =
    operator_list<elementwise_add, elementwise_sub, elementwise_mul, elementwise_div,
                  elementwise_max, elementwise_min, elementwise_pow, elementwise_mod,
                  elementwise_floordiv, elementwise_keep>;

}}}  // namespace lamina::operators
