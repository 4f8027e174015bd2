// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/batch_norm/lowering.hpp - lowers batch_norm to a call that computes one
// factor per channel, and a statement that applies the factor.
//
// If a batch_norm normalises by given statistics, the call needs no image. Then it is placed before
// the preceding convolution, and the statement joins the fused group of the convolution.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/elementwise/binary/definition.hpp>
#include <lamina/operators/norm/batch_norm/definition.hpp>
#include <lamina/plan/lowering/images.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace lowering {

/// Whether a batch_norm normalises by given statistics instead of the statistics of the batch.
constexpr bool has_statistics(const lowering_state& s, const operator_desc& op) {
  return attribute(s, op, 0) != 0 || attribute(s, op, 4) != 0;
}
/// Emits the call that computes SavedMean, SavedVariance and the factors. Returns the variable of
/// the factors. x is -1 if statistics are given.
constexpr int make_factor(lowering_state& s, const operator_desc& op, int x, int k) {
  const int scale = argument(s, op.inputs + 1);
  const int made = temporary(s, 1, s.variables.items[scale].columns, false, -1);
  const bool given = x < 0;
  emit_call(s, schema_of<operators::batch_norm_factor>(),
            {x, in_rows(s, scale, k), argument(s, op.inputs + 2),
             in_rows(s, argument(s, op.inputs + 3), k), in_rows(s, argument(s, op.inputs + 4), k)},
            {given ? -1 : argument(s, op.outputs + 1), given ? -1 : argument(s, op.outputs + 2),
             argument(s, op.outputs + 3), argument(s, op.outputs + 4), made},
            k);
  return made;
}
/// Emits the factors of a batch_norm with given statistics before convolution k, if the batch_norm
/// follows it, possibly with a bias between them. `out` is the result of the convolution.
constexpr void make_factor_early(lowering_state& s, int out, int k) {
  const program_desc& p = s.program;
  for (int next = k + 1; next < p.count.operators && next <= k + 2; ++next) {
    const operator_desc& op = p.operators[next];
    if (op.block != s.block || argument(s, op.inputs) != out) return;
    if (is<operators::batch_norm>(op)) {
      if (has_statistics(s, op) && is_images(s, out))
        s.early = {next, make_factor(s, op, -1, next)};
      return;
    }
    if (!is<operators::elementwise_add>(op)) return;
    out = argument(s, op.outputs);
  }
}

/// Lowers a batch_norm; returns false if the operands are not images.
constexpr bool lower_normalization(lowering_state& s, const operator_desc& op, int k) {
  const int x = argument(s, op.inputs), y = argument(s, op.outputs);
  const bool given = has_statistics(s, op);
  const int mean = argument(s, given ? op.inputs + 3 : op.outputs + 3);
  if (!is_images(s, x) || !is_images(s, y) || mean < 0) return false;
  const int a = padded_rows(s, x, k);
  const int factor =
      given && s.early.op == k ? s.early.factor : make_factor(s, op, given ? -1 : a, k);
  instruction i =
      begin_images(s, fusion_anchor::pointwise, schema_of<operators::channel_normalize>(), y, k);
  use(s, a, access::load);
  const access how = of_channels(s.variables.items[factor].columns, s.variables.items[x].columns);
  use(s, mean, how);
  use(s, factor, how);
  use(s, argument(s, op.inputs + 2), how);
  result(s, y);
  end(s, i);
  return true;
}

constexpr bool lower_normalization_grad(lowering_state& s, const operator_desc& op, int k) {
  const int x = argument(s, op.inputs), scale = argument(s, op.inputs + 1);
  const int mean = argument(s, op.inputs + 2), variance = argument(s, op.inputs + 3);
  const int grad = argument(s, op.inputs + 4);
  const int dx = argument(s, op.outputs), dscale = argument(s, op.outputs + 1);
  const int dbias = argument(s, op.outputs + 2);
  if (!is_images(s, x) || !is_images(s, grad)) return false;
  const int a = padded_rows(s, x, k), d = padded_rows(s, grad, k);
  const int channels = s.variables.items[scale].columns;
  // With given statistics, the gradient of X is the gradient of Y times the factor.
  const bool given = has_statistics(s, op);
  int made[3];
  for (int j = 0; j < 3; ++j)
    made[j] = dx < 0 || (given && j < 2) ? -1 : temporary(s, 1, channels, false, -1);
  emit_call(s, schema_of<operators::batch_norm_grads>(),
            {a, in_rows(s, scale, k), mean, variance, d},
            {dscale, dbias, made[0], made[1], made[2]}, k);
  if (dx < 0) return true;
  const access how = of_channels(channels, s.variables.items[x].columns);
  const operator_schema& schema = given ? schema_of<operators::elementwise_mul>()
                                  : how == access::row
                                      ? schema_of<operators::column_normalize_grad>()
                                      : schema_of<operators::channel_normalize_grad>();
  instruction i = begin_images(s, fusion_anchor::pointwise, schema, dx, k);
  use(s, d, access::load);
  if (!given) {
    use(s, a, access::load);
    use(s, mean, how);
  }
  for (const int v : made)
    if (v >= 0) use(s, v, how);
  result(s, dx);
  end(s, i);
  return true;
}

/// Lowers operator k if it is a batch_norm of images or the gradient of one.
constexpr bool lower_batch_norm(lowering_state& s, const operator_desc& op, int k) {
  if (is<operators::batch_norm>(op)) return lower_normalization(s, op, k);
  return is<gradient_of<operators::batch_norm>>(op) && lower_normalization_grad(s, op, k);
}

}}}  // namespace lamina::lowering
