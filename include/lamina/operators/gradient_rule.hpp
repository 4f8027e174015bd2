// SPDX-License-Identifier: Apache-2.0
// lamina/operators/gradient_rule.hpp - the default gradient rule, as in Fluid: records the gradient
// operator of an operator.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/gradient.hpp>

namespace lamina { inline namespace LAMINA_ABI {

template <class Op>
struct gradient_of;
template <class Op>
constexpr const operator_schema& schema_of();

namespace detail {

/// The slots that a gradient operator reads, as bit masks, and the schema of the gradient operator.
struct gradient_slots_read {
  std::uint32_t inputs;
  std::uint32_t outputs;
  std::uint32_t gradients;
  const operator_schema& schema;
};

/// Records the gradient operator as record_gradient() does, for an operator with one output and no
/// slots that are lists. Most operators are of this kind, and the code for lists would double the
/// compile time of each.
constexpr void record_plain_gradient(program_builder& b, const operator_desc& op,
                                     const gradient_slots_read& reads, std::uint32_t differentiable,
                                     int inputs) {
  const int result = b.arguments.items[op.outputs];
  const int grad = gradient_variable(b, result);
  if (grad < 0) return;
  bool asked = false;
  for (int s = 0; s < inputs && !asked; ++s)
    asked = (differentiable >> s & 1u) != 0 && wants_gradient(b, b.arguments.items[op.inputs + s]);
  if (!asked) return;
  const int at = b.arguments.count;
  for (int s = 0; s < inputs; ++s)
    if ((reads.inputs >> s & 1u) != 0) b.arguments.push(b.arguments.items[op.inputs + s]);
  if (reads.outputs != 0) b.arguments.push(result);
  b.arguments.push(grad);
  const int outputs = b.arguments.count;
  for (int s = 0; s < inputs; ++s)
    if ((differentiable >> s & 1u) != 0)
      b.arguments.push(partial_gradient(b, b.arguments.items[op.inputs + s]));
  b.operators.push(
      {&reads.schema, at, outputs, b.arguments.count, op.attributes, b.current_block, b.role});
}

/// Records the `<type>_grad` operator. It reads the inputs, outputs and output gradients in
/// `reads`, and writes a partial gradient for each differentiable input. This function is not a
/// template, because a program would have to instantiate the template for many operators.
constexpr void record_gradient(program_builder& b, const operator_desc& op,
                               const gradient_slots_read& reads) {
  const operator_schema forward = *op.schema;
  const bool lists = forward.has_lists;
  const int inputs = forward.input_count;
  const int outputs = forward.output_count;
  if (!lists && outputs == 1 && reads.gradients == 1)
    return record_plain_gradient(b, op, reads, forward.differentiable, inputs);
  // The gradients of the outputs are completed first, because this may record a `sum` operator,
  // which must precede the gradient operator.
  int gradients[64];
  int slot_start[64];
  int total = 0;
  bool any = false;
  for (int s = 0, at = op.outputs; s < outputs; ++s) {
    slot_start[s] = total;
    const int n = lists && forward.outputs[s].duplicable ? b.arguments.items[at++] : 1;
    for (int i = 0; i < n; ++i, ++at) {
      const bool read = (reads.gradients >> s & 1u) != 0;
      const int g = read ? gradient_variable(b, b.arguments.items[at]) : -1;
      any = any || g >= 0;
      gradients[total++] = g;
    }
  }
  slot_start[outputs] = total;
  if (!any) return;
  bool asked = false;
  for (int s = 0, at = op.inputs; s < inputs; ++s) {
    const int n = lists && forward.inputs[s].duplicable ? b.arguments.items[at++] : 1;
    for (int i = 0; i < n; ++i, ++at)
      asked = asked ||
              ((forward.differentiable >> s & 1u) != 0 && wants_gradient(b, b.arguments.items[at]));
  }
  if (!asked) return;
  for (int s = 0, at = op.outputs, k = 0; s < outputs; ++s) {
    const int n = lists && forward.outputs[s].duplicable ? b.arguments.items[at++] : 1;
    for (int i = 0; i < n; ++i, ++at, ++k)
      if (gradients[k] < 0 && (reads.gradients >> s & 1u) != 0)
        gradients[k] = zero_gradient(b, b.arguments.items[at]);
  }
  operator_desc made = b.begin(reads.schema);
  for (int s = 0, at = op.inputs; s < inputs; ++s) {
    const bool read = (reads.inputs >> s & 1u) != 0;
    const bool list = lists && forward.inputs[s].duplicable;
    const int n = list ? b.arguments.items[at++] : 1;
    if (read && list) b.arguments.push(n);
    for (int i = 0; i < n; ++i, ++at) {
      const int v = b.arguments.items[at];
      if (read) b.arguments.push(v);
    }
  }
  for (int s = 0, at = op.outputs; s < outputs; ++s) {
    const bool read = (reads.outputs >> s & 1u) != 0;
    const bool list = lists && forward.outputs[s].duplicable;
    const int n = list ? b.arguments.items[at++] : 1;
    if (read && list) b.arguments.push(n);
    for (int i = 0; i < n; ++i, ++at) {
      const int v = b.arguments.items[at];
      if (read) b.arguments.push(v);
    }
  }
  for (int s = 0; s < outputs; ++s) {
    if ((reads.gradients >> s & 1u) == 0) continue;
    const int n = slot_start[s + 1] - slot_start[s];
    if (lists && forward.outputs[s].duplicable) b.arguments.push(n);
    for (int i = 0; i < n; ++i) b.arguments.push(gradients[slot_start[s] + i]);
  }
  made.outputs = b.arguments.count;
  for (int s = 0, at = op.inputs; s < inputs; ++s) {
    const bool list = lists && forward.inputs[s].duplicable;
    const int n = list ? b.arguments.items[at++] : 1;
    const bool given = (forward.differentiable >> s & 1u) != 0;
    if (given && list) b.arguments.push(n);
    for (int i = 0; i < n; ++i, ++at) {
      const int v = b.arguments.items[at];
      if (given) b.arguments.push(partial_gradient(b, v));
    }
  }
  made.end = b.arguments.count;
  made.attributes = op.attributes;
  b.operators.push(made);
}

/// The gradient rule of operator Op: records its gradient operator.
template <class Op>
constexpr void make_gradient(program_builder& b, const operator_desc& op) {
  record_gradient(b, op,
                  {Op::gradient_inputs, Op::gradient_outputs, Op::gradient_of_outputs,
                   schema_of<gradient_of<Op>>()});
}

}  // namespace detail
}}  // namespace lamina
