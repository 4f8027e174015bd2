// SPDX-License-Identifier: Apache-2.0
// lamina/operators/pool/pool2d/lowering.hpp - takes the largest element of each window before bias
// and activation.
//
// If only a max-pooling reads the result of a convolution after its bias and an activation that
// never decreases, the largest activated element is the activated largest element. The plan
// therefore pools first; bias, activation, its gradient and the sums of the bias's gradient then
// process only the pooled elements.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/constexpr_vector.hpp>
#include <lamina/operators/activation/simple/definition.hpp>
#include <lamina/operators/conv/lowering.hpp>
#include <lamina/operators/pool/pool2d/definition.hpp>

namespace lamina::inline LAMINA_ABI {

/// The part of lowering that exchanges pooling and the operators before it.
struct pool_lowering : image_lowering {
  using image_lowering::image_lowering;

 protected:
  constexpr bool has_chains() const { return chains.count > 0; }
  /// Lowers operator k, if it belongs to such a chain.
  constexpr bool lower_pooled(const operator_desc& op, int k) {
    for (int c = 0; c < chains.count; ++c) {
      chain& of = chains.items[c];
      if (k == of.add || k == of.act || k == of.act_grad) return true;
      if (k == of.pool) return pool(of, op, k), true;
      if (k == of.pool_grad) return spread(of, op, k), true;
    }
    return false;
  }
  /// Records the chain that begins with convolution k, if there is one.
  constexpr void find_chain(const operator_desc& op, int k) {
    if (p.count.blocks > 1 || argument(op.inputs + 2) >= 0 || argument(op.inputs + 3) >= 0) return;
    chain c{-1, -1, -1, -1, -1, argument(op.outputs), -1, -1, -1, -1};
    int at = k + 1, biased = -1, last = c.image;
    if (follows(at, last) && is<elementwise_add>(p.operators[at]) &&
        attribute(p.operators[at], 0) == 1) {
      c.bias = argument(p.operators[at].inputs + 1);
      if (!is_of_channels(c.bias, variables.items[last], 1)) return;
      c.add = at;
      biased = last = argument(p.operators[at++].outputs);
    }
    if (follows(at, last) && is_activation(p.operators[at])) {
      c.act = at;
      last = argument(p.operators[at++].outputs);
    }
    if (last == c.image || !follows(at, last) || !is<pool2d>(p.operators[at]) ||
        !takes_largest(p.operators[at]))
      return;
    c.pool = at;
    const int out = argument(p.operators[at].outputs);
    if (variables.items[out].type != dtype::float32 ||
        2 * variables.items[out].columns > variables.items[last].columns)
      return;
    if (!is_read_otherwise(c, k, biased, last)) chains.push(c);
  }
  /// The variable that has the same sums over each channel as variable v.
  constexpr int same_sums(int v) const {
    for (int c = 0; c < chains.count; ++c)
      if (chains.items[c].spread == v) return chains.items[c].slope;
    return v;
  }

 private:
  /// The operators of a chain, -1 for missing ones, and its variables.
  struct chain {
    int add, act, pool, pool_grad, act_grad;
    int image, bias;    // the result of the convolution; the bias
    int largest;        // of each window
    int slope, spread;  // of the largest; of the image
  };

  static constexpr bool is_activation(const operator_desc& op) {
    return is<relu>(op) || is<tanh>(op) || is<sigmoid>(op);
  }
  static constexpr bool is_gradient_of_activation(const operator_desc& op) {
    return is<gradient_of<relu>>(op) || is<gradient_of<tanh>>(op) || is<gradient_of<sigmoid>>(op);
  }
  constexpr bool takes_largest(const operator_desc& op) const {
    return op.attributes < 0 || p.characters[p.attributes[op.attributes].offset] == 'm';
  }
  /// Whether argument `at`, one of the inputs, is the number of variables of a list.
  constexpr bool counts(const operator_desc& op, int at) const {
    for (int s = 0, i = op.inputs; s < op.schema->input_count && i <= at; ++s) {
      const bool list = op.schema->inputs[s].duplicable;
      if (list && i == at) return true;
      i += list ? 1 + argument(i) : 1;
    }
    return false;
  }
  /// Whether operator k is in the same block and its first input is v.
  constexpr bool follows(int k, int v) const {
    return k < p.count.operators && p.operators[k].block == block &&
           p.operators[k].inputs < p.operators[k].end && argument(p.operators[k].inputs) == v;
  }

  /// Whether another operator, or the caller, reads a value that the chain would no longer compute.
  /// Also finds the chain's gradients.
  constexpr bool is_read_otherwise(chain& c, int k, int biased, int last) const {
    for (int i = 0; i < p.count.outputs; ++i)
      if (p.outputs[i] == biased || p.outputs[i] == last) return true;
    for (int i = 0; i < p.count.names; ++i)
      if (p.names[i].key == nullptr && p.names[i].output >= 0 &&
          (p.names[i].output == biased || p.names[i].output == last))
        return true;
    for (int q = c.pool + 1; q < p.count.operators; ++q) {
      const operator_desc op = p.operators[q];
      for (int at = op.inputs; at < op.outputs; ++at) {
        const int v = argument(at);
        if (v < 0 || (v != c.image && v != biased && v != last) || counts(op, at)) continue;
        if (is<gradient_of<pool2d>>(op) && at == op.inputs && v == last && c.pool_grad < 0)
          c.pool_grad = q;
        else if (c.act >= 0 && is_gradient_of_activation(op) && at == op.inputs && v == last &&
                 c.act_grad < 0)
          c.act_grad = q;
        else
          return true;
      }
    }
    if (c.act < 0 || (c.pool_grad < 0 && c.act_grad < 0)) return false;
    if (c.pool_grad < 0 || c.act_grad < 0) return true;
    const int slope = argument(p.operators[c.pool_grad].outputs);
    if (slope < 0 || argument(p.operators[c.act_grad].outputs) < 0) return true;
    for (int q = k; q < p.count.operators; ++q)
      for (int at = p.operators[q].inputs; at < p.operators[q].outputs; ++at)
        if (argument(at) == slope && q != c.act_grad && !counts(p.operators[q], at)) return true;
    return false;
  }

  /// A new variable in the shape of the chain's result.
  constexpr int like_result(int out) {
    return temporary(variables.items[out].rows, variables.items[out].columns, false, out);
  }
  constexpr void pool(chain& c, const operator_desc& op, int k) {
    const int out = argument(op.outputs);
    c.largest = like_result(out);
    instruction i = begin(group_head::call, *op.schema, 0, k);
    use(c.image, access::load);
    result(c.largest);
    end(i);
    int so_far = c.largest;
    if (c.bias >= 0)
      so_far = add(so_far, in_rows(c.bias, k),
                   of_channels(variables.items[c.bias].columns, variables.items[out].columns), out,
                   c.act < 0, k);
    if (c.act < 0) return;
    instruction f = begin_images(group_head::pointwise, *p.operators[c.act].schema, out, k);
    use(so_far, access::load);
    result(out);
    end(f);
  }
  constexpr void spread(chain& c, const operator_desc& op, int k) {
    const int out = argument(op.inputs + 1);
    c.slope = padded_rows(argument(op.inputs + 2), k);
    c.spread = argument(c.act < 0 ? op.outputs : p.operators[c.act_grad].outputs);
    if (c.spread < 0) return;
    if (c.act >= 0) {
      const int before = c.slope;
      c.slope = like_result(out);
      instruction f = begin_images(group_head::pointwise, *p.operators[c.act_grad].schema, out, k);
      use(out, access::load);
      use(before, access::load);
      result(c.slope);
      end(f);
    }
    instruction i = begin(group_head::call, *op.schema, 0, k);
    use(c.image, access::load);
    use(c.largest, access::load);
    use(c.slope, access::load);
    variables.items[c.spread].panel = false;
    result(c.spread);
    end(i);
  }

  constexpr_vector<chain> chains;
};

}  // namespace lamina::inline LAMINA_ABI
