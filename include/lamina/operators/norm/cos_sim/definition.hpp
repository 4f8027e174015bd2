// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/cos_sim/definition.hpp - cosine similarity of rows.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = X . Y / (XNorm * YNorm) for each row, where XNorm and YNorm are Euclidean norms. Y may
/// have a single row for all rows of X. Fluid: cos_sim.
struct cos_sim : operator_definition {
  static constexpr const char* type = "cos_sim";
  static constexpr auto inputs = slots_xy;
  static constexpr std::array<slot_desc, 3> outputs{
      {{"Out"}, {"XNorm", false, false, true}, {"YNorm", false, false, true}}};
  static constexpr std::uint32_t differentiable = 3;
  static constexpr std::uint32_t gradient_inputs = 3;
  static constexpr std::uint32_t gradient_outputs = 7;
};

using norm_cos_sim_operators = operator_list<cos_sim>;

}}}  // namespace lamina::operators
