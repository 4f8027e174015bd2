// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/cumsum/executor.hpp - cumsum: cumulative sums along a dimension.
#pragma once

#include <lamina/core/config.hpp>

#include <type_traits>

#include <lamina/core/numbers/wrapping.hpp>
#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Computes cumulative sums along a dimension: of floating-point numbers in double, of integers in
/// int64.
template <class Real>
void cumsum_forward(call_context<Real>& ctx) {
  const tensor_shape shape = ctx.input("X").shape();
  const lines l(shape, ctx.axis("axis", shape.size(), -1));
  const bool exclusive = ctx.flag("exclusive"), reverse = ctx.flag("reverse");
  ctx.give("Out", with_values(ctx, "X", [&]<class T>(const xt::xarray<T>& x) {
             using wide = std::conditional_t<std::is_floating_point_v<T>, double, T>;
             auto out = zeros<T>(shape);
             for (std::size_t o = 0; o < l.outer; ++o)
               for (std::size_t i = 0; i < l.inner; ++i) {
                 wide sum = 0;
                 for (std::size_t k = 0; k < l.n; ++k) {
                   const std::size_t at = l.at(o, reverse ? l.n - 1 - k : k, i);
                   const wide next = math::wrapping_sum(sum, static_cast<wide>(x.flat(at)));
                   out.flat(at) = static_cast<T>(exclusive ? sum : next);
                   sum = next;
                 }
               }
             return tensor(std::move(out));
           }));
}

template <class Real>
void add_cumsum_kernels(kernel_table<Real>& table) {
  table["cumsum"] = cumsum_forward<Real>;
}

}}}  // namespace lamina::kernel
