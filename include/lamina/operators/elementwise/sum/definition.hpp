// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/sum/definition.hpp - sums of variables, and `scale`, which also
// computes the gradients of sums.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/math.hpp>
#include <lamina/core/numbers/wrapping.hpp>
#include <lamina/operators/pointwise.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = scale * X + bias, or scale * (X + bias) when bias_after_scale is false. Fluid: scale.
struct scale : pointwise {
  static constexpr const char* type = "scale";
  static constexpr std::uint32_t gradient_inputs = 0;
  static constexpr std::array<attribute_desc, 3> attributes{
      {{"scale", attribute_type::real, 1},
       {"bias", attribute_type::real, 0},
       {"bias_after_scale", attribute_type::boolean, 1}}};
  static constexpr auto linear = linearity::linear;
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T factor, T bias, T after) {
    const T added = math::wrapping_product(bias, math::select(after > T(0), T(1), factor));
    return math::wrapping_sum(math::wrapping_product(factor, x), added);
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T dy, T factor, T, T) {
    return factor * dy;
  }
};

/// Out = X[0] + X[1] + ... Fluid: sum. The gradient of each input is a `scale` by 1, as in Fluid.
struct sum : operator_definition {
  static constexpr const char* type = "sum";
  static constexpr auto kind = operator_kind::pointwise;
  static constexpr std::array<slot_desc, 1> inputs{{{"X", true}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::uint32_t differentiable = 1;
  static constexpr int scalars = 0;
  static constexpr auto linear = linearity::linear;
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T y) {
    return math::wrapping_sum(x, y);
  }
  static constexpr void gradient(program_builder& b, const operator_desc& op) {
    const int n = b.arguments[op.inputs];
    const int whole = gradient_variable(b, b.arguments[op.outputs]);
    if (whole < 0) return;
    for (int i = 0; i < n; ++i) {
      const int made = partial_gradient(b, b.arguments[op.inputs + 1 + i]);
      if (made >= 0) b.add_operator(schema_of<scale>(), {whole}, {made});
    }
  }
};

/// Out = X - Y, where X and Y have the same shape. The gradient of each input is a `scale`, as in
/// Fluid. Fluid: minus.
struct minus : operator_definition {
  static constexpr const char* type = "minus";
  static constexpr auto kind = operator_kind::pointwise;
  static constexpr auto inputs = slots_xy;
  static constexpr auto outputs = slots_out;
  static constexpr std::uint32_t differentiable = 3;
  static constexpr auto linear = linearity::linear;
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T y) {
    return math::wrapping_difference(x, y);
  }
  static constexpr void gradient(program_builder& b, const operator_desc& op) {
    const int whole = gradient_variable(b, b.arguments[op.outputs]);
    if (whole < 0) return;
    for (int side = 0; side < 2; ++side) {
      const int made = partial_gradient(b, b.arguments[op.inputs + side]);
      if (made < 0) continue;
      const int attributes = side == 0 ? -1 : b.attribute_list(-1.0, 0.0, true);
      b.add_operator(schema_of<scale>(), {whole}, {made}, attributes);
    }
  }
};

using elementwise_sum_operators = operator_list<scale, sum, minus>;

}}}  // namespace lamina::operators
