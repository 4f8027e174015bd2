// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/batch_norm/executor.hpp - normalisation over the rows of a batch.
#pragma once

#include <lamina/core/config.hpp>

#include <utility>

#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>
#include <lamina/operators/norm/executor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Whether each channel has a single element in the batch, which passes unchanged.
template <class Real>
bool passes_through(const call_context<Real>& ctx, const norm_parts& p) {
  return !ctx.flag("is_test") && !ctx.flag("use_global_stats") && p.size == 1;
}
template <class Real>
void batch_norm_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const norm_parts p(shape_of(x), 0);
  const Real epsilon = ctx.real_attribute("epsilon"), keep = ctx.real_attribute("momentum");
  auto mean = ctx.real("Mean"), variance = ctx.real("Variance");
  auto next_mean = mean, next_variance = variance;
  if (passes_through(ctx, p)) {
    ctx.give("Y", xt::xarray<Real>(x));
    ctx.give("MeanOut", std::move(next_mean));
    ctx.give("VarianceOut", std::move(next_variance));
    ctx.give("SavedMean", xt::xarray<Real>(ctx.real("Bias")));
    ctx.give("SavedVariance", xt::xarray<Real>(xt::ones_like(variance)));
    return;
  }
  // A batch without rows leaves the statistics unchanged.
  xt::xarray<Real> inverse;
  if (!ctx.flag("is_test") && !ctx.flag("use_global_stats") && p.size > 0) {
    part_moments<Real> batch(x, p);
    inverse = inverse_deviation<Real>(batch, epsilon);
    mean = std::move(batch.mean);
    next_mean = keep * next_mean + (Real(1) - keep) * mean;
    next_variance = keep * next_variance + (Real(1) - keep) * batch.variance;
  } else {
    inverse = inverse_deviation<Real>(std::move(variance), epsilon);
  }
  auto y = normalised<Real>(ctx, x, p, mean, inverse);
  ctx.give("Y", std::move(y));
  ctx.give("MeanOut", std::move(next_mean));
  ctx.give("VarianceOut", std::move(next_variance));
  ctx.give("SavedMean", std::move(mean));
  ctx.give("SavedVariance", std::move(inverse));
}
template <class Real>
void batch_norm_gradient(call_context<Real>& ctx) {
  if (const norm_parts p(shape_of(ctx.real("X")), 0); passes_through(ctx, p)) {
    ctx.give("X@GRAD", xt::xarray<Real>(ctx.real("Y@GRAD")));
    ctx.give("Scale@GRAD", zeros<Real>({p.l.n}));
    ctx.give("Bias@GRAD", zeros<Real>({p.l.n}));
    return;
  }
  give_norm_gradients<Real>(ctx, norm_parts(shape_of(ctx.real("X")), 0), ctx.real("SavedMean"),
                            ctx.real("SavedVariance"),
                            !ctx.flag("use_global_stats") && !ctx.flag("is_test"));
}

template <class Real>
void add_batch_norm_kernels(kernel_table<Real>& table) {
  table["batch_norm"] = batch_norm_forward<Real>;
  table["batch_norm_grad"] = batch_norm_gradient<Real>;
}

}}}  // namespace lamina::kernel
