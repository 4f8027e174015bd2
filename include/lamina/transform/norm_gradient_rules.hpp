// SPDX-License-Identifier: Apache-2.0
// lamina/transform/norm_gradient_rules.hpp - the rule for the gradient of batch_norm's gradient
// operator.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/elementwise/unary/definition.hpp>
#include <lamina/operators/norm/batch_norm/definition.hpp>
#include <lamina/operators/reduce/dimensions/definition.hpp>
#include <lamina/transform/gradient_writer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Returns the mean of each channel (dimension 1) of x over all other dimensions, with shape
/// [channels].
constexpr int channel_means(gradient_writer& w, int x) {
  program_builder& b = w.builder();
  const variable_desc v = b.variables.items[x];
  int dims[16] = {};
  for (int i = 2; i < v.rank; ++i) dims[i - 1] = i;
  const int out = w.made(x);
  variable_desc& made = b.variables.items[out];
  made.dims = v.dims + 1;
  made.rank = 1;
  made.rows = once::domain;
  made.kind = variable_kind::temporary;
  const attribute_value list = b.integer_list(dims, v.rank - 1);
  b.add_operator(schema_of<operators::reduce_mean>(), {x}, {out},
                 b.attribute_list(list, false, false));
  return out;
}

/// Let d be the gradient of batch_norm's result, g the gradient of dX, h = d Scale, x the
/// normalised channels, and r the reciprocal standard deviation of each channel. Then dX = P h with
/// P h = r (h - mean h - x mean(h x)), or P h = r h if mean and variance are given, as with
/// use_global_stats. P is symmetric, so the gradient of h is P g. The gradient of X is -r (P h
/// mean(g x) + P g mean(h x) + x mean(g P h)), or 0 if mean and variance are given. Returns false
/// if a cost depends on dScale or dBias, which is not supported.
constexpr bool differentiate_batch_norm(gradient_writer& w) {
  program_builder& b = w.builder();
  const int x = w.input(0), scale_of = w.input(1), d = w.of_out(), g = w.grad(0);
  if (w.grad(1) >= 0 || w.grad(2) >= 0) return false;
  if (g < 0) return true;
  const int of_channels = b.attribute_list(1);
  const auto times = [&](int left, int channels) { return w.product(left, channels, of_channels); };
  if (const int part = partial_gradient(b, d); part >= 0)
    b.add_operator(*w.op().schema, {x, scale_of, w.input(2), w.input(3), g}, {part, -1, -1},
                   w.attributes());
  if (w.attribute(0) != 0 || w.attribute(4) != 0) {
    w.give_side<operators::elementwise_mul>(scale_of, 1, d, scale_of, times(g, w.input(3)),
                                            of_channels);
    return true;
  }
  if (!w.wants(x) && !w.wants(scale_of)) return true;
  const auto less = [&](int left, int channels) {
    return w.of_two<operators::elementwise_sub>(left, channels, of_channels);
  };
  const int centred = less(x, channel_means(w, x));
  const int variance = channel_means(w, w.of_one<operators::square>(centred));
  const int r = w.of_one<operators::rsqrt>(w.scaled(variance, 1, w.attribute(2)));
  const int normal = times(centred, r);
  const auto share = [&](int of) { return channel_means(w, w.product(of, normal)); };
  const auto projected = [&](int of) {
    const int rest = w.of_two<operators::elementwise_sub>(less(of, channel_means(w, of)),
                                                          times(normal, share(of)));
    return times(rest, r);
  };
  const int pg = projected(g);
  w.give_side<operators::elementwise_mul>(scale_of, 1, d, scale_of, pg, of_channels);
  if (!w.wants(x)) return true;
  const int h = times(d, scale_of), ph = projected(h);
  const int sum = w.of_two<operators::elementwise_add>(times(ph, share(g)), times(pg, share(h)));
  const int bent = times(normal, channel_means(w, w.product(g, ph)));
  w.give(x, times(w.of_two<operators::elementwise_add>(sum, bent), r), -1);
  return true;
}

}}}  // namespace lamina::detail
