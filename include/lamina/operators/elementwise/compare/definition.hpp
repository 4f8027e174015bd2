// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/compare/definition.hpp - comparisons and logical operators, whose
// result is bool.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/math.hpp>
#include <lamina/operators/pointwise.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Base of the comparisons. Out is bool. Y is broadcast to X by `axis` as in the elementwise_*
/// operators.
struct comparison : pointwise {
  static constexpr auto inputs = slots_xy;
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"axis", attribute_type::integer, -1}, {"force_cpu", attribute_type::boolean, 0}}};
  static constexpr int scalars = 0;
  static constexpr std::uint32_t differentiable = 0;
  static constexpr std::uint32_t gradient_inputs = 0;
};

/// Out = X < Y.
struct less_than : comparison {
  static constexpr const char* type = "less_than";
  template <class T>
  LAMINA_NUMBER_FN static auto f(T x, T y) {
    return x < y;
  }
};

/// Out = X <= Y.
struct less_equal : comparison {
  static constexpr const char* type = "less_equal";
  template <class T>
  LAMINA_NUMBER_FN static auto f(T x, T y) {
    return x <= y;
  }
};

/// Out = X > Y.
struct greater_than : comparison {
  static constexpr const char* type = "greater_than";
  template <class T>
  LAMINA_NUMBER_FN static auto f(T x, T y) {
    return x > y;
  }
};

/// Out = X >= Y.
struct greater_equal : comparison {
  static constexpr const char* type = "greater_equal";
  template <class T>
  LAMINA_NUMBER_FN static auto f(T x, T y) {
    return x >= y;
  }
};

/// Out = X == Y.
struct equal : comparison {
  static constexpr const char* type = "equal";
  template <class T>
  LAMINA_NUMBER_FN static auto f(T x, T y) {
    return x == y;
  }
};

/// Out = X != Y.
struct not_equal : comparison {
  static constexpr const char* type = "not_equal";
  template <class T>
  LAMINA_NUMBER_FN static auto f(T x, T y) {
    return math::differs(x, y);
  }
};

/// Base of the logical operators of two variables.
struct logical : pointwise {
  static constexpr auto inputs = slots_xy;
  static constexpr std::uint32_t differentiable = 0;
  static constexpr std::uint32_t gradient_inputs = 0;
};

/// Out = X and Y.
struct logical_and : logical {
  static constexpr const char* type = "logical_and";
  template <class T>
  LAMINA_NUMBER_FN static auto f(T x, T y) {
    return math::differs(x, T(0)) && math::differs(y, T(0));
  }
};

/// Out = X or Y.
struct logical_or : logical {
  static constexpr const char* type = "logical_or";
  template <class T>
  LAMINA_NUMBER_FN static auto f(T x, T y) {
    return math::differs(x, T(0)) || math::differs(y, T(0));
  }
};

/// Out = true if exactly one of X and Y is true.
struct logical_xor : logical {
  static constexpr const char* type = "logical_xor";
  template <class T>
  LAMINA_NUMBER_FN static auto f(T x, T y) {
    // This form avoids != between two conditions, because xsimd 8 computes it wrongly for SSE
    // vectors.
    return (math::differs(x, T(0)) && y == T(0)) || (x == T(0) && math::differs(y, T(0)));
  }
};

/// Out = not X.
struct logical_not : logical {
  static constexpr const char* type = "logical_not";
  static constexpr auto inputs = slots_x;
  template <class T>
  LAMINA_NUMBER_FN static auto f(T x) {
    return x == T(0);
  }
};

using elementwise_compare_operators =
    operator_list<less_than, less_equal, greater_than, greater_equal, equal, not_equal, logical_and,
                  logical_or, logical_xor, logical_not>;

}}}  // namespace lamina::operators
