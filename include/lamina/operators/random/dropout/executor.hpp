// SPDX-License-Identifier: Apache-2.0
// lamina/operators/random/dropout/executor.hpp - the operator dropout.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/random.hpp>
#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Returns the factor by which an element that is kept is multiplied: in training 1 or, with
/// "upscale_in_train", 1 / (1 - p); in tests 1 - p or, with "upscale_in_train", 1.
template <class Real>
Real dropout_factor(const call_context<Real>& ctx, bool test) {
  const Real p = ctx.real_attribute("dropout_prob", 0.5);
  const bool upscale = ctx.text("dropout_implementation") == "upscale_in_train";
  if (test) return upscale ? Real(1) : 1 - p;
  if (!upscale) return 1;
  return p >= 1 ? Real(0) : 1 / (1 - p);
}

/// Out = X * Mask * factor; with is_test, Out = X * factor.
template <class Real>
void dropout_forward(call_context<Real>& ctx) {
  auto x = ctx.real("X");
  const bool test = ctx.flag("is_test");
  const Real factor = dropout_factor(ctx, test);
  xt::xarray<std::uint8_t> mask = zeros<std::uint8_t>(shape_of(x));
  const std::uint64_t seed = ctx.flag("fix_seed")
                                 ? static_cast<std::uint64_t>(ctx.attribute("seed"))
                                 : ctx.options().seed + ctx.options().step;
  const std::uint64_t stream = dropout_stream(ctx.ordinal(), ctx.next_iteration());
  const float p = static_cast<float>(ctx.attribute("dropout_prob", 0.5));
  const std::size_t width = matrix(shape_of(x), 1).columns;
  const std::uint64_t first = ctx.options().first_row * width;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool kept = test || dropout_keeps(seed, stream, first + i, p);
    mask.flat(i) = kept ? 1 : 0;
    x.flat(i) = kept ? x.flat(i) * factor : Real(0);
  }
  ctx.give("Out", std::move(x));
  ctx.give("Mask", std::move(mask));
}

/// dX = dOut * factor where Mask is 1, else 0, even if dOut is NaN or infinite.
template <class Real>
void dropout_gradient(call_context<Real>& ctx) {
  auto d = ctx.real("Out@GRAD");
  const auto mask = ctx.integers("Mask");
  const Real factor = dropout_factor(ctx, ctx.flag("is_test"));
  for (std::size_t i = 0; i < d.size(); ++i)
    d.flat(i) = mask.flat(i) != 0 ? d.flat(i) * factor : Real(0);
  ctx.give("X@GRAD", std::move(d));
}

template <class Real>
void add_dropout_kernels(kernel_table<Real>& table) {
  table["dropout"] = dropout_forward<Real>;
  table["dropout_grad"] = dropout_gradient<Real>;
}

}}}  // namespace lamina::kernel
