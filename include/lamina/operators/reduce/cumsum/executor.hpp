// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/cumsum/executor.hpp - cumulative sums.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/executor/kernel_shape.hpp>
#include <lamina/executor/kernel_table.hpp>

namespace lamina::inline LAMINA_ABI::kernel {

/// Cumulative sums along an axis.
template <class Real>
void cumsum_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const lines l(shape_of(x), ctx.axis("axis", x.dimension(), -1));
  const bool exclusive = ctx.flag("exclusive"), reverse = ctx.flag("reverse");
  auto out = zeros<Real>(shape_of(x));
  for (std::size_t o = 0; o < l.outer; ++o)
    for (std::size_t i = 0; i < l.inner; ++i) {
      double sum = 0;
      for (std::size_t k = 0; k < l.n; ++k) {
        const std::size_t at = l.at(o, reverse ? l.n - 1 - k : k, i);
        const double next = sum + static_cast<double>(x.flat(at));
        out.flat(at) = static_cast<Real>(exclusive ? sum : next);
        sum = next;
      }
    }
  ctx.give("Out", std::move(out));
}

template <class Real>
void add_cumsum_kernels(kernel_table<Real>& table) {
  table["cumsum"] = cumsum_forward<Real>;
}

}  // namespace lamina::inline LAMINA_ABI::kernel
