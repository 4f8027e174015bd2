// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise.hpp - elementwise_* of two variables with Fluid's axis broadcast.
// Y's shape, trailing ones trimmed, is a contiguous part of X's that begins at `axis`; axis -1
// stands for rank(X) - rank(Y).
#pragma once

#include <lamina/operators/pointwise.hpp>

namespace lamina {

/// Base of the elementwise operators: Out = f(X, Y).
struct elementwise : pointwise {
  static constexpr auto inputs = slots_xy;
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"axis", attribute_type::integer, -1}}};
  static constexpr int scalars = 0;
  static constexpr std::uint32_t differentiable = 3;
  static constexpr std::uint32_t gradient_inputs = 3;
};

/// Out = X + Y.
struct elementwise_add : elementwise {
  static constexpr const char* type = "elementwise_add";
  static constexpr std::uint32_t gradient_inputs = 0;
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T y) {
    return x + y;
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
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T y) {
    return x - y;
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
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T y) {
    return x * y;
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
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T y) {
    return x / y;
  }
  template <int Slot, class T>
  LAMINA_NUMBER_FN static T df(T x, T y, T dy) {
    // A slope of 0 stays 0 where y is 0; y * y may be more, or less, than a number holds.
    const T inverse = T(1) / y;
    const T slope = math::select(dy == T(0), T(0), dy * inverse);
    if constexpr (Slot == 0)
      return slope;
    else
      return math::select(dy == T(0), T(0), -slope * (x * inverse));
  }
};

/// Out = max(X, Y); where both are equal the gradient goes to Y, as in Fluid.
struct elementwise_max : elementwise {
  static constexpr const char* type = "elementwise_max";
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T y) {
    return math::max(x, y);
  }
  template <int Slot, class T>
  LAMINA_NUMBER_FN static T df(T x, T y, T dy) {
    if constexpr (Slot == 0)
      return math::select(x > y, dy, T(0));
    else
      return math::select(x > y, T(0), dy);
  }
};

/// Out = min(X, Y); where both are equal the gradient goes to Y, as in Fluid.
struct elementwise_min : elementwise {
  static constexpr const char* type = "elementwise_min";
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T y) {
    return math::min(x, y);
  }
  template <int Slot, class T>
  LAMINA_NUMBER_FN static T df(T x, T y, T dy) {
    if constexpr (Slot == 0)
      return math::select(x < y, dy, T(0));
    else
      return math::select(x < y, T(0), dy);
  }
};

/// Out = X to the power of Y as IEEE 754 has it. Where X is 0 and Y is not below 0, Y's gradient is
/// 0.
struct elementwise_pow : elementwise {
  static constexpr const char* type = "elementwise_pow";
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T y) {
    return math::pow(x, y);
  }
  template <int Slot, class T>
  LAMINA_NUMBER_FN static T df(T x, T y, T dy) {
    // A slope of 0 stays 0 where the power or the logarithm is infinite.
    if constexpr (Slot == 0) {
      const T slope = dy * y;
      return math::select(slope == T(0), T(0), slope * math::pow(x, y - T(1)));
    } else {
      const T slope = dy * math::pow(x, y);
      return math::select(
          slope == T(0), T(0),
          math::select(x == T(0), math::select(y < T(0), -slope, T(0)), slope * math::log(x)));
    }
  }
};

/// Out = X - Y * floor(X / Y): the remainder has the sign of Y.
struct elementwise_mod : elementwise {
  static constexpr const char* type = "elementwise_mod";
  static constexpr std::uint32_t differentiable = 0;
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T y) {
    if constexpr (std::is_integral_v<T>) {
      const T r = static_cast<T>(x % y);
      return r != T(0) && (r < T(0)) != (y < T(0)) ? static_cast<T>(r + y) : r;
    } else {
      return x - y * math::floor(x / y);
    }
  }
};

/// Out = floor(X / Y).
struct elementwise_floordiv : elementwise {
  static constexpr const char* type = "elementwise_floordiv";
  static constexpr std::uint32_t differentiable = 0;
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T y) {
    if constexpr (std::is_integral_v<T>) {
      const T q = static_cast<T>(x / y);
      return x % y != T(0) && (x < T(0)) != (y < T(0)) ? static_cast<T>(q - 1) : q;
    } else {
      return math::floor(x / y);
    }
  }
};

/// Out = 0 in the shape of X. Fluid: fill_zeros_like.
struct fill_zeros_like : pointwise {
  static constexpr const char* type = "fill_zeros_like";
  static constexpr std::uint32_t differentiable = 0;
  template <class T>
  LAMINA_NUMBER_FN static T f(T) {
    return T(0);
  }
};

}  // namespace lamina
