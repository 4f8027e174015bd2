// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/lstmp/definition.hpp - lstmp: an lstm that projects its hidden state.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// lstm with a recurrent projection (lstm/definition.hpp has the other equations): instead of h,
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

using recurrent_lstmp_operators = operator_list<lstmp>;

}}}  // namespace lamina::operators
