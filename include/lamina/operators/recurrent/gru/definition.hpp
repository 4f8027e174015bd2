// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/gru/definition.hpp - gated recurrent units over sequences.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Runs over each sequence of Input's last LoD level, forwards or, with is_reverse, backwards. * is
/// elementwise; h' is the state of the previous step, and H0 or 0 in the first step:
///   u = gate(x_u + h' W_u + b_u)    r = gate(x_r + h' W_r + b_r)
///   c = activation(x_c + (r * h') W_c + b_c)
///   h = (1 - u) * h' + u * c, with origin_mode u * h' + (1 - u) * c
/// Input [T, 3D] holds x and Bias [1, 3D] holds b in the order u, r, c. Weight [D, 3D] stores first
/// the elements of a matrix [D, 2D], W_u next to W_r, then those of W_c [D, D]. BatchGate [T, 3D]
/// is u, r, c, BatchResetHiddenPrev is r * h' and BatchHidden is h. Only the gradient reads them,
/// and an engine may order their rows differently. Source: Cho et al. 2014. Fluid: gru.
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

using recurrent_gru_operators = operator_list<gru>;

}}}  // namespace lamina::operators
