// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/gru_unit/definition.hpp - gru_unit: one step of a gru.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Computes one step of gru (gru/definition.hpp has the equations) for every row of Input x [N, 3D]
/// and HiddenPrev h' [N, D]. Hidden [N, D] is h, Gate [N, 3D] is u, r, c, and ResetHiddenPrev [N,
/// D] is r * h'. The attributes for activation functions are numbers: 0 identity, 1 sigmoid, 2
/// tanh, 3 relu. Fluid: gru_unit.
struct gru_unit : operator_definition {
  static constexpr const char* type = "gru_unit";
  static constexpr std::array<slot_desc, 4> inputs{
      {{"Input"}, {"HiddenPrev"}, {"Weight"}, {"Bias", false, true}}};
  static constexpr std::array<slot_desc, 3> outputs{
      {{"Gate", false, false, true}, {"ResetHiddenPrev", false, false, true}, {"Hidden"}}};
  static constexpr std::array<attribute_desc, 3> attributes{
      {{"activation", attribute_type::integer, 2},
       {"gate_activation", attribute_type::integer, 1},
       {"origin_mode", attribute_type::boolean, 0}}};
  static constexpr std::uint32_t differentiable = 15;
  static constexpr std::uint32_t gradient_inputs = 15;
  static constexpr std::uint32_t gradient_outputs = 7;
  static constexpr std::uint32_t gradient_of_outputs = 4;
  static constexpr auto products = product_rule::recurrent;
};

using recurrent_gru_unit_operators = operator_list<gru_unit>;

}}}  // namespace lamina::operators
