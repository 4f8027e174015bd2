// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/lstm/definition.hpp - lstm: long short-term memory over sequences;
// lstmp: an lstm that projects its hidden state.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Runs over each sequence of Input's last LoD level, forwards or, with is_reverse, backwards. * is
/// the elementwise product. c' and h' are the cell and the hidden state of the previous step; in
/// the first step, they are C0 and H0, or 0 if these inputs are absent:
///   n = candidate(x_n + h' W_n + b_n)             i = gate(x_i + h' W_i + b_i + W_ic * c')
///   f = gate(x_f + h' W_f + b_f + W_fc * c')      c = f * c' + i * n
///   o = gate(x_o + h' W_o + b_o + W_oc * c)       h = o * cell(c)
/// Input [T, 4D] holds x, Weight [D, 4D] holds W and Bias [1, 4D] holds b, all in the order n, i,
/// f, o. With use_peepholes, Bias is [1, 7D]: W_ic, W_fc and W_oc follow b. Without use_peepholes,
/// these weights are 0. H0 and C0 are [sequences, D]; either both are present or both are absent.
/// BatchGate [T, 4D] is n, i, f, o and BatchCellPreAct [T, D] is cell(c). Only the gradient reads
/// these two outputs, and an engine may order their rows in another way. Source: Hochreiter and
/// Schmidhuber 1997, Gers et al. 2002 (peepholes). Fluid: lstm.
struct lstm : operator_definition {
  static constexpr const char* type = "lstm";
  static constexpr std::array<slot_desc, 5> inputs{
      {{"Input"}, {"H0", false, true}, {"C0", false, true}, {"Weight"}, {"Bias"}}};
  static constexpr std::array<slot_desc, 4> outputs{{{"Hidden"},
                                                     {"Cell"},
                                                     {"BatchGate", false, false, true},
                                                     {"BatchCellPreAct", false, false, true}}};
  static constexpr std::array<attribute_desc, 5> attributes{
      {{"use_peepholes", attribute_type::boolean, 1},
       {"is_reverse", attribute_type::boolean, 0},
       {"gate_activation", attribute_type::string, 0, "sigmoid"},
       {"cell_activation", attribute_type::string, 0, "tanh"},
       {"candidate_activation", attribute_type::string, 0, "tanh"}}};
  static constexpr std::uint32_t differentiable = 31;
  static constexpr std::uint32_t gradient_inputs = 31;
  static constexpr std::uint32_t gradient_outputs = 15;
  static constexpr std::uint32_t gradient_of_outputs = 3;
  static constexpr auto products = product_rule::recurrent;
};

/// lstm with a recurrent projection (whose equations hold here too): instead of h,
/// the next step reads
///   p = proj(h ProjWeight), clipped to [-proj_clip, proj_clip] where proj_clip > 0,
/// and c is clipped to [-cell_clip, cell_clip] if cell_clip > 0. ProjWeight is [D, P], Weight [P,
/// 4D] and H0 [sequences, P]; Projection [T, P] is p. A clipped element passes no gradient back.
/// Source: Sak et al. 2014. Fluid: lstmp.
struct lstmp : operator_definition {
  static constexpr const char* type = "lstmp";
  static constexpr std::array<slot_desc, 6> inputs{
      {{"Input"}, {"H0", false, true}, {"C0", false, true}, {"Weight"}, {"ProjWeight"}, {"Bias"}}};
  static constexpr std::array<slot_desc, 5> outputs{{{"Projection"},
                                                     {"Cell"},
                                                     {"BatchGate", false, false, true},
                                                     {"BatchCellPreAct", false, false, true},
                                                     {"BatchHidden", false, false, true}}};
  static constexpr std::array<attribute_desc, 8> attributes{
      {{"use_peepholes", attribute_type::boolean, 1},
       {"is_reverse", attribute_type::boolean, 0},
       {"cell_clip", attribute_type::real, 0},
       {"proj_clip", attribute_type::real, 0},
       {"gate_activation", attribute_type::string, 0, "sigmoid"},
       {"cell_activation", attribute_type::string, 0, "tanh"},
       {"candidate_activation", attribute_type::string, 0, "tanh"},
       {"proj_activation", attribute_type::string, 0, "tanh"}}};
  static constexpr std::uint32_t differentiable = 63;
  static constexpr std::uint32_t gradient_inputs = 63;
  static constexpr std::uint32_t gradient_outputs = 31;
  static constexpr std::uint32_t gradient_of_outputs = 3;
  static constexpr auto products = product_rule::recurrent;
};

using recurrent_lstm_operators = operator_list<lstm, lstmp>;

}}}  // namespace lamina::operators
