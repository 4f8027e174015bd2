// SPDX-License-Identifier: Apache-2.0
// lamina/operators/gradient_rule.hpp - Fluid's default gradient maker.
// Why apart from gradient.hpp: clang evaluates a constexpr template only when its definition stands
// before the place that takes its address, which is in every operator's schema.
#pragma once

#include <lamina/operators/gradient.hpp>

namespace lamina {

template <class Op>
struct gradient_of;
template <class Op>
constexpr const operator_schema& schema_of();

namespace detail {

/// Records `<type>_grad`: reads the inputs, outputs and output gradients that Op names, writes a
/// partial gradient for each differentiable input.
template <class Op>
constexpr void make_gradient(program_builder& b, const operator_desc& op) {
  constexpr int inputs = static_cast<int>(Op::inputs.size());
  constexpr int outputs = static_cast<int>(Op::outputs.size());
  // The finished gradients come first: a `sum` operator must stand before its reader.
  int gradients[64];
  int slot_start[outputs + 1];
  int total = 0;
  bool any = false;
  for (int s = 0, at = op.outputs; s < outputs; ++s) {
    slot_start[s] = total;
    const int n = Op::outputs[static_cast<std::size_t>(s)].duplicable ? b.arguments.items[at++] : 1;
    for (int i = 0; i < n; ++i, ++at) {
      const bool read = (Op::gradient_of_outputs >> s & 1u) != 0;
      const int g = read ? gradient_variable(b, b.arguments.items[at]) : -1;
      any = any || g >= 0;
      gradients[total++] = g;
    }
  }
  slot_start[outputs] = total;
  if (!any) return;
  bool asked = false;
  for (int s = 0, at = op.inputs; s < inputs; ++s) {
    const int n = Op::inputs[static_cast<std::size_t>(s)].duplicable ? b.arguments.items[at++] : 1;
    for (int i = 0; i < n; ++i, ++at)
      asked = asked || ((Op::differentiable >> s & 1u) != 0 && wants_gradient(b, b.arguments.items[at]));
  }
  if (!asked) return;
  for (int s = 0, at = op.outputs, k = 0; s < outputs; ++s) {
    const int n = Op::outputs[static_cast<std::size_t>(s)].duplicable ? b.arguments.items[at++] : 1;
    for (int i = 0; i < n; ++i, ++at, ++k)
      if (gradients[k] < 0 && (Op::gradient_of_outputs >> s & 1u) != 0)
        gradients[k] = zero_gradient(b, b.arguments.items[at]);
  }
  operator_desc made = b.begin(schema_of<gradient_of<Op>>());
  for (int s = 0, at = op.inputs; s < inputs; ++s) {
    const bool read = (Op::gradient_inputs >> s & 1u) != 0;
    const bool list = Op::inputs[static_cast<std::size_t>(s)].duplicable;
    const int n = list ? b.arguments.items[at++] : 1;
    if (read && list) b.arguments.push(n);
    for (int i = 0; i < n; ++i, ++at) {
      const int v = b.arguments.items[at];
      if (read) b.arguments.push(v);
    }
  }
  for (int s = 0, at = op.outputs; s < outputs; ++s) {
    const bool read = (Op::gradient_outputs >> s & 1u) != 0;
    const bool list = Op::outputs[static_cast<std::size_t>(s)].duplicable;
    const int n = list ? b.arguments.items[at++] : 1;
    if (read && list) b.arguments.push(n);
    for (int i = 0; i < n; ++i, ++at) {
      const int v = b.arguments.items[at];
      if (read) b.arguments.push(v);
    }
  }
  for (int s = 0; s < outputs; ++s) {
    if ((Op::gradient_of_outputs >> s & 1u) == 0) continue;
    const int n = slot_start[s + 1] - slot_start[s];
    if (Op::outputs[static_cast<std::size_t>(s)].duplicable) b.arguments.push(n);
    for (int i = 0; i < n; ++i) b.arguments.push(gradients[slot_start[s] + i]);
  }
  made.outputs = b.arguments.count;
  for (int s = 0, at = op.inputs; s < inputs; ++s) {
    const bool list = Op::inputs[static_cast<std::size_t>(s)].duplicable;
    const int n = list ? b.arguments.items[at++] : 1;
    const bool given = (Op::differentiable >> s & 1u) != 0;
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

}  // namespace detail
}  // namespace lamina
