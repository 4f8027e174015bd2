// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/in_batch/definition.hpp - in_batch_cross_entropy: classifies each row of a
// mini-batch among all rows of the mini-batch.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Classifies row i of X among all rows of Y in the mini-batch. With the scores s_ij = <X_i, Y_j>
/// (inner products), Out_i = log(sum over j of e^s_ij) - the mean of s_ij over the rows j that have
/// the same Label as row i; without Label, row i itself is the only such row. LogSum_i [2] holds
/// m_i, the largest s_ij over j, and log(sum over j of e^(s_ij - m_i)). The gradient computes the
/// scores again, so that the matrix of all pairs need not be stored. Source: Sohn 2016. Fluid: the
/// operators of npair_loss.
struct in_batch_cross_entropy : operator_definition {
  static constexpr const char* type = "in_batch_cross_entropy";
  static constexpr std::array<slot_desc, 3> inputs{{{"X"}, {"Y"}, {"Label", false, true}}};
  static constexpr std::array<slot_desc, 2> outputs{{{"LogSum", false, false, true}, {"Out"}}};
  static constexpr std::uint32_t differentiable = 3;
  static constexpr std::uint32_t gradient_inputs = 7;
  static constexpr std::uint32_t gradient_outputs = 1;
  static constexpr std::uint32_t gradient_of_outputs = 2;
  static constexpr auto meets_rows = row_meeting::always;
};

using loss_in_batch_operators = operator_list<in_batch_cross_entropy>;

}}}  // namespace lamina::operators
