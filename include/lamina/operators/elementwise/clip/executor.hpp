// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/clip/executor.hpp - clip_by_norm: scales an array down if its L2
// norm exceeds a limit.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>

#include <lamina/executor/call_context.hpp>
#include <lamina/operators/norm/norm/executor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Returns sqrt(sum x^2).
template <class Real>
square_sum euclidean_norm(const xt::xarray<Real>& x) {
  square_sum sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += square_sum(x.flat(i)) * x.flat(i);
  return std::sqrt(sum);
}

/// Out = X if ||X|| <= max_norm, else X * max_norm / ||X||.
template <class Real>
void clip_by_norm_forward(call_context<Real>& ctx) {
  auto x = ctx.real("X");
  const square_sum most = ctx.real_attribute("max_norm"), norm = euclidean_norm<Real>(x);
  if (norm > most) x *= static_cast<Real>(most / norm);
  ctx.give("Out", std::move(x));
}

template <class Real>
void add_clip_kernels(kernel_table<Real>& table) {
  table["clip_by_norm"] = clip_by_norm_forward<Real>;
}

}}}  // namespace lamina::kernel
