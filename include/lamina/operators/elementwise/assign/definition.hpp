// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/assign/definition.hpp - operators that copy a variable: assign,
// cast, increment.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/wrapping.hpp>
#include <lamina/operators/pointwise.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = X. The gradient is an `assign` as well. Fluid: assign.
struct assign : pointwise {
  static constexpr const char* type = "assign";
  static constexpr std::uint32_t gradient_inputs = 0;
  static constexpr auto linear = linearity::linear;
  static constexpr auto origin = row_origin::handed_over;
  template <class T>
  LAMINA_NUMBER_FN static T f(T x) {
    return x;
  }
  static constexpr void gradient(program_builder& b, const operator_desc& op) {
    const int whole = gradient_variable(b, b.arguments[op.outputs]);
    if (whole < 0) return;
    const int made = partial_gradient(b, b.arguments[op.inputs]);
    if (made >= 0) b.add_operator(schema_of<assign>(), {whole}, {made});
  }
};

/// Out = X converted to the element type of Out. f returns its argument; the engine converts the
/// result by number_cast. The gradient is a `cast` back to the type of X; there is no gradient if X
/// has integers. Fluid: cast.
struct cast : pointwise {
  static constexpr const char* type = "cast";
  static constexpr int scalars = 0;
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"in_dtype", attribute_type::integer, 5}, {"out_dtype", attribute_type::integer, 5}}};
  static constexpr std::uint32_t gradient_inputs = 0;
  static constexpr auto linear = linearity::linear;
  template <class T>
  LAMINA_NUMBER_FN static T f(T x) {
    return x;
  }
  static constexpr void gradient(program_builder& b, const operator_desc& op) {
    const int x = b.arguments[op.inputs];
    const int y = b.arguments[op.outputs];
    if (!is_floating(b.variables[x].type) || !is_floating(b.variables[y].type)) return;
    const int whole = gradient_variable(b, y);
    if (whole < 0) return;
    const int made = partial_gradient(b, x);
    if (made < 0) return;
    const int in = static_cast<int>(b.variables[y].type);
    const int out = static_cast<int>(b.variables[x].type);
    b.add_operator(schema_of<cast>(), {whole}, {made}, b.attribute_list(in, out));
  }
};

/// Out = X + step. In Fluid programs Out is usually X itself. Fluid: increment.
struct increment : pointwise {
  static constexpr const char* type = "increment";
  static constexpr std::array<attribute_desc, 1> attributes{{{"step", attribute_type::real, 1}}};
  static constexpr std::uint32_t differentiable = 0;
  static constexpr std::uint32_t gradient_inputs = 0;
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T step) {
    return math::wrapping_sum(x, step);
  }
};

/// Out = X, where Out is a persistent variable that other operators may have written before.
/// layer::store records this operator, which has no gradient. Fluid: assign.
struct assign_variable : operator_definition {
  static constexpr const char* type = "assign";
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
  static constexpr auto linear = linearity::linear;
};

using elementwise_assign_operators = operator_list<assign, cast, increment, assign_variable>;

}}}  // namespace lamina::operators
