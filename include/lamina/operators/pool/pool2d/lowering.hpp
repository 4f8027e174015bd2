// SPDX-License-Identifier: Apache-2.0
// lamina/operators/pool/pool2d/lowering.hpp - computes a max-pooling before the bias and the
// activation that precede it in the program.
//
// This is possible if a convolution is followed by a bias, an increasing activation and a
// max-pooling, and no other operator reads the values between them. For an increasing activation,
// the largest activated element is the activation of the largest element, so the order may be
// changed. The plan pools first, because bias, activation and their gradients then compute only the
// pooled elements.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/activation/simple/definition.hpp>
#include <lamina/operators/conv/definition.hpp>
#include <lamina/operators/elementwise/binary/definition.hpp>
#include <lamina/operators/pool/pool2d/definition.hpp>
#include <lamina/plan/lowering/images.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace lowering {

/// Whether an operator is an increasing activation: a larger operand never gives a smaller result.
constexpr bool is_monotonic_activation(const operator_desc& op) {
  return is<operators::relu>(op) || is<operators::tanh>(op) || is<operators::sigmoid>(op);
}
constexpr bool is_gradient_of_monotonic_activation(const operator_desc& op) {
  return is<gradient_of<operators::relu>>(op) || is<gradient_of<operators::tanh>>(op) ||
         is<gradient_of<operators::sigmoid>>(op);
}
/// Whether a pool2d computes maxima instead of averages.
constexpr bool takes_largest(const program_desc& p, const operator_desc& op) {
  return op.attributes < 0 || p.characters[p.attributes[op.attributes].offset] == 'm';
}
/// Whether argument `at` of an operator is the length of a list of input variables, not a variable.
constexpr bool is_list_count(const program_desc& p, const operator_desc& op, int at) {
  for (int slot = 0, i = op.inputs; slot < op.schema->input_count && i <= at; ++slot) {
    const bool list = op.schema->inputs[slot].duplicable;
    if (list && i == at) return true;
    i += list ? 1 + p.arguments[i] : 1;
  }
  return false;
}
/// Whether operator k is in the block that is being lowered and has variable v as its first input.
constexpr bool follows(const lowering_state& s, int k, int v) {
  const program_desc& p = s.program;
  return k < p.count.operators && p.operators[k].block == s.block &&
         p.operators[k].inputs < p.operators[k].end && argument(s, p.operators[k].inputs) == v;
}

/// Whether an operator outside of the chain of convolution k, or the caller of the program, reads
/// `biased` or `last`, the values after the bias and after the activation: the changed order does
/// not compute them. Also finds the gradient operators of the chain.
constexpr bool is_read_otherwise(const program_desc& p, pooled_chain& c, int k, int biased,
                                 int last) {
  for (int i = 0; i < p.count.outputs; ++i)
    if (p.outputs[i] == biased || p.outputs[i] == last) return true;
  for (int i = 0; i < p.count.names; ++i)
    if (p.names[i].key == nullptr && p.names[i].output >= 0 &&
        (p.names[i].output == biased || p.names[i].output == last))
      return true;
  for (int q = c.pool + 1; q < p.count.operators; ++q) {
    const operator_desc op = p.operators[q];
    for (int at = op.inputs; at < op.outputs; ++at) {
      const int v = p.arguments[at];
      if (v < 0 || (v != c.image && v != biased && v != last) || is_list_count(p, op, at)) continue;
      if (is<gradient_of<operators::pool2d>>(op) && at == op.inputs && v == last && c.pool_grad < 0)
        c.pool_grad = q;
      else if (c.act >= 0 && is_gradient_of_monotonic_activation(op) && at == op.inputs &&
               v == last && c.act_grad < 0)
        c.act_grad = q;
      else
        return true;
    }
  }
  if (c.act < 0 || (c.pool_grad < 0 && c.act_grad < 0)) return false;
  if (c.pool_grad < 0 || c.act_grad < 0) return true;
  const int grad = p.arguments[p.operators[c.pool_grad].outputs];
  if (grad < 0 || p.arguments[p.operators[c.act_grad].outputs] < 0) return true;
  for (int q = k; q < p.count.operators; ++q)
    for (int at = p.operators[q].inputs; at < p.operators[q].outputs; ++at)
      if (p.arguments[at] == grad && q != c.act_grad && !is_list_count(p, p.operators[q], at))
        return true;
  return false;
}

/// Finds out whether a chain begins with operator k, and if so, adds it to the chains of the plan.
constexpr void find_pooled_chain(lowering_state& s, const operator_desc& op, int k) {
  const program_desc& p = s.program;
  if (!is<operators::conv2d>(op) || s.has_blocks || argument(s, op.inputs + 2) >= 0 ||
      argument(s, op.inputs + 3) >= 0)
    return;
  pooled_chain c{-1, -1, -1, -1, -1, argument(s, op.outputs), -1, -1, -1, -1};
  int at = k + 1, biased = -1, last = c.image;
  if (follows(s, at, last) && is<operators::elementwise_add>(p.operators[at]) &&
      attribute(s, p.operators[at], 0) == 1) {
    c.bias = argument(s, p.operators[at].inputs + 1);
    if (!is_of_channels(s, c.bias, s.variables.items[last], 1)) return;
    c.add = at;
    biased = last = argument(s, p.operators[at++].outputs);
  }
  if (follows(s, at, last) && is_monotonic_activation(p.operators[at])) {
    c.act = at;
    last = argument(s, p.operators[at++].outputs);
  }
  if (last == c.image || !follows(s, at, last) || !is<operators::pool2d>(p.operators[at]) ||
      !takes_largest(p, p.operators[at]))
    return;
  c.pool = at;
  const int out = argument(s, p.operators[at].outputs);
  if (s.variables.items[out].type != dtype::float32 ||
      2 * s.variables.items[out].columns > s.variables.items[last].columns)
    return;
  if (!is_read_otherwise(p, c, k, biased, last)) s.chains.push(c);
}

/// Creates a variable with the shape of `out`, the result of a chain.
constexpr int like_pooled(lowering_state& s, int out) {
  return temporary(s, s.variables.items[out].rows, s.variables.items[out].columns, false, out);
}
/// Lowers the pooling `op` of a chain, and after it the bias and the activation of the chain.
constexpr void lower_chain(lowering_state& s, pooled_chain& c, const operator_desc& op, int k) {
  const int out = argument(s, op.outputs);
  c.largest = like_pooled(s, out);
  emit_call(s, *op.schema, {c.image}, {c.largest}, k);
  int so_far = c.largest;
  if (c.bias >= 0)
    so_far =
        add_images(s, so_far, in_rows(s, c.bias, k),
                   of_channels(s.variables.items[c.bias].columns, s.variables.items[out].columns),
                   out, c.act < 0, k);
  if (c.act < 0) return;
  instruction f =
      begin_images(s, fusion_anchor::pointwise, *s.program.operators[c.act].schema, out, k);
  use(s, so_far, access::load);
  result(s, out);
  end(s, f);
}
/// Lowers `op`, the gradient of the pooling of a chain, and before it the gradient of the chain's
/// activation.
constexpr void lower_chain_grad(lowering_state& s, pooled_chain& c, const operator_desc& op,
                                int k) {
  const program_desc& p = s.program;
  const int out = argument(s, op.inputs + 1);
  c.grad = padded_rows(s, argument(s, op.inputs + 2), k);
  c.spread = argument(s, c.act < 0 ? op.outputs : p.operators[c.act_grad].outputs);
  if (c.spread < 0) return;
  if (c.act >= 0) {
    const int before = c.grad;
    c.grad = like_pooled(s, out);
    instruction f =
        begin_images(s, fusion_anchor::pointwise, *p.operators[c.act_grad].schema, out, k);
    use(s, out, access::load);
    use(s, before, access::load);
    result(s, c.grad);
    end(s, f);
  }
  s.variables.items[c.spread].panel = false;
  emit_call(s, *op.schema, {c.image, c.largest, c.grad}, {c.spread}, k);
}

/// Lowers operator k if it belongs to a chain; otherwise returns false.
constexpr bool lower_in_chain(lowering_state& s, const operator_desc& op, int k) {
  for (int n = 0; n < s.chains.count; ++n) {
    pooled_chain& c = s.chains.items[n];
    if (k == c.add || k == c.act || k == c.act_grad) return true;
    if (k == c.pool) return lower_chain(s, c, op, k), true;
    if (k == c.pool_grad) return lower_chain_grad(s, c, op, k), true;
  }
  return false;
}
/// If v is `spread` of a chain, the gradient of the image, returns `grad` of the chain, else v.
/// Both have the same sum over each channel, but `grad` has fewer elements.
constexpr int same_channel_sums(const lowering_state& s, int v) {
  for (int n = 0; n < s.chains.count; ++n)
    if (s.chains.items[n].spread == v) return s.chains.items[n].grad;
  return v;
}

}}}  // namespace lamina::lowering
