// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/gru/definition.hpp - gru: gated recurrent units over sequences;
// gru_unit: one step of a gru.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Runs over each sequence of Input's last LoD level, forwards or, with is_reverse, backwards. * is
/// the elementwise product. h' is the state of the previous step; in the first step, h' is H0, or 0
/// if H0 is absent:
///   u = gate(x_u + h' W_u + b_u)    r = gate(x_r + h' W_r + b_r)
///   c = activation(x_c + (r * h') W_c + b_c)
///   h = (1 - u) * h' + u * c, with origin_mode u * h' + (1 - u) * c
/// Input [T, 3D] holds x and Bias [1, 3D] holds b in the order u, r, c. The memory of Weight [D,
/// 3D] holds two matrices, one after the other: [D, 2D], whose columns are those of W_u and then
/// those of W_r, and W_c [D, D]. BatchGate [T, 3D] is u, r, c, BatchResetHiddenPrev is r * h' and
/// BatchHidden is h. Only the gradient reads these three outputs, and an engine may order their
/// rows in another way. Source: Cho et al. 2014. Fluid: gru.
struct gru : operator_definition {
  static constexpr const char* type = "gru";
  static constexpr std::array<slot_desc, 4> inputs{
      {{"Input"}, {"H0", false, true}, {"Weight"}, {"Bias", false, true}}};
  static constexpr std::array<slot_desc, 4> outputs{{{"BatchGate", false, false, true},
                                                     {"BatchResetHiddenPrev", false, false, true},
                                                     {"BatchHidden", false, false, true},
                                                     {"Hidden"}}};
  static constexpr std::array<attribute_desc, 4> attributes{
      {{"activation", attribute_type::string, 0, "tanh"},
       {"gate_activation", attribute_type::string, 0, "sigmoid"},
       {"is_reverse", attribute_type::boolean, 0},
       {"origin_mode", attribute_type::boolean, 0}}};
  static constexpr std::uint32_t differentiable = 15;
  static constexpr std::uint32_t gradient_inputs = 15;
  static constexpr std::uint32_t gradient_outputs = 15;
  static constexpr std::uint32_t gradient_of_outputs = 8;
  static constexpr auto products = product_rule::recurrent;
};

/// Computes one step of gru for every row of Input x [N, 3D]
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

using recurrent_gru_operators = operator_list<gru, gru_unit>;

}}}  // namespace lamina::operators
