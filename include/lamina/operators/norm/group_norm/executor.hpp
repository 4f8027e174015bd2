// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/group_norm/executor.hpp - normalisation of the channels of images.
#pragma once

#include <lamina/core/config.hpp>

#include <string>

#include <lamina/executor/kernel_shape.hpp>
#include <lamina/executor/kernel_table.hpp>
#include <lamina/operators/norm/executor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

template <class Real>
norm_parts group_parts(const call_context<Real>& ctx) {
  const tensor_shape shape = shape_of(ctx.real("X"));
  const int groups = ctx.integer("groups", static_cast<int>(shape[1]));
  if (groups < 1 || shape[1] % static_cast<std::size_t>(groups) != 0)
    ctx.fail("expected a number of groups that divides " + std::to_string(shape[1]) +
             " channels, found " + std::to_string(groups));
  return norm_parts(shape, static_cast<std::size_t>(groups));
}

template <class Real>
void group_norm_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const norm_parts p = group_parts<Real>(ctx);
  part_moments<Real> moments(x, p);
  const tensor_shape shape{shape_of(x)[0], p.groups};
  auto inverse = inverse_deviation<Real>(moments, ctx.real_attribute("epsilon"));
  ctx.give("Y", normalised<Real>(ctx, x, p, moments.mean, inverse));
  const bool is_instance = ctx.output_count("SavedMean") > 0;
  ctx.give(is_instance ? "SavedMean" : "Mean", reshaped(moments.mean, shape));
  if (is_instance)
    ctx.give("SavedVariance", reshaped(inverse, shape));
  else
    ctx.give("Variance", reshaped(moments.variance, shape));
}
template <class Real>
void group_norm_gradient(call_context<Real>& ctx) {
  const norm_parts p = group_parts<Real>(ctx);
  if (ctx.has("SavedMean"))
    give_norm_gradients<Real>(ctx, p, ctx.real("SavedMean"), ctx.real("SavedVariance"), true);
  else
    give_norm_gradients<Real>(ctx, p, ctx.real("Mean"),
                              inverse_deviation<Real>(part_moments<Real>(ctx.real("X"), p),
                                                      ctx.real_attribute("epsilon")),
                              true);
}

template <class Real>
void add_group_norm_kernels(kernel_table<Real>& table) {
  table["group_norm"] = group_norm_forward<Real>;
  table["group_norm_grad"] = group_norm_gradient<Real>;
  table["instance_norm"] = group_norm_forward<Real>;
  table["instance_norm_grad"] = group_norm_gradient<Real>;
}

}}}  // namespace lamina::kernel
