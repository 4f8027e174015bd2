// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/binary/lowering.hpp - lowers the gradients of sums and differences.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/elementwise/binary/definition.hpp>
#include <lamina/plan/lowering/images.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace lowering {

/// Whether output `o` of gradient operator `op` is equal to its input, Out@GRAD, as it is for the
/// gradient of a sum.
constexpr bool passes_gradient(const operator_desc& op, int o) {
  return op.schema->input_count == 1 && op.schema->attribute_count == 1 &&
         op.schema->scalars == 0 &&
         (is<gradient_of<operators::elementwise_add>>(op) ||
          (is<gradient_of<operators::elementwise_sub>>(op) && o == 0));
}

/// Whether `op` is the gradient of a sum X + Y where Y has one number per channel of the images X,
/// as the bias of a convolution has.
constexpr bool is_channel_sum(const lowering_state& s, const operator_desc& op) {
  const int grad = argument(s, op.inputs), dy = argument(s, op.outputs + 1);
  return is<gradient_of<operators::elementwise_add>>(op) && dy >= 0 &&
         is_of_channels(s, dy, s.variables.items[grad], 1) &&
         s.variables.items[grad].type == s.real;
}
/// Emits the instruction that computes Y@GRAD (`dy`) of such a sum from Out@GRAD (`grad`).
constexpr void emit_channel_sums(lowering_state& s, int grad, int dy, int k) {
  emit_call(s, schema_of<operators::channel_sums>(), {padded_rows(s, grad, k)}, {dy}, k);
}

}}}  // namespace lamina::lowering
