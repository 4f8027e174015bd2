// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/pointwise/lowering.hpp - finds the elementwise costs that cannot be lowered
// as pointwise operators.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/loss/pointwise/definition.hpp>
#include <lamina/plan/lowering/lowering_state.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace lowering {

/// Whether `op` is a cost, or the gradient of one, that is divided by a number of labels. It is
/// then not pointwise, because each element depends on all labels.
constexpr bool is_divided_by_labels(const lowering_state& s, const operator_desc& op) {
  return (is<operators::sigmoid_cross_entropy_with_logits>(op) ||
          is<gradient_of<operators::sigmoid_cross_entropy_with_logits>>(op)) &&
         attribute(s, op, 1) != 0;
}

}}}  // namespace lamina::lowering
