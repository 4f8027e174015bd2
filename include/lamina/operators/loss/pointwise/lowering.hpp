// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/pointwise/lowering.hpp - detects elementwise costs that cannot be lowered
// as pointwise operators.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/loss/pointwise/definition.hpp>
#include <lamina/plan/lowering/lowering_state.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace lowering {

/// Whether this cost, or its gradient, is divided by a number of labels, so that it is not
/// pointwise.
constexpr bool is_divided_by_labels(const lowering_state& s, const operator_desc& op) {
  return (is<operators::sigmoid_cross_entropy_with_logits>(op) ||
          is<gradient_of<operators::sigmoid_cross_entropy_with_logits>>(op)) &&
         attribute(s, op, 1) != 0;
}

}}}  // namespace lamina::lowering
