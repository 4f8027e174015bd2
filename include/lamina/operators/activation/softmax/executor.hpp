// SPDX-License-Identifier: Apache-2.0
// lamina/operators/activation/softmax/executor.hpp - the operator softmax, along one dimension.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>

#include <lamina/core/numbers/math.hpp>
#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Returns e^(x - max) / sum e^(x - max), where max and sum are along dimension `axis`.
template <class Real>
xt::xarray<Real> softmax_of(const xt::xarray<Real>& x, std::size_t axis) {
  const lines l(shape_of(x), axis);
  auto y = zeros<Real>(shape_of(x));
  for (std::size_t o = 0; o < l.outer; ++o)
    for (std::size_t i = 0; i < l.inner; ++i) {
      Real most = x.flat(l.at(o, 0, i)), sum = 0;
      for (std::size_t k = 1; k < l.n; ++k) most = (std::max)(most, x.flat(l.at(o, k, i)));
      for (std::size_t k = 0; k < l.n; ++k)
        sum += y.flat(l.at(o, k, i)) = std::exp(x.flat(l.at(o, k, i)) - most);
      for (std::size_t k = 0; k < l.n; ++k) y.flat(l.at(o, k, i)) /= sum;
    }
  return y;
}

template <class Real>
void softmax_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  ctx.give("Out", softmax_of<Real>(x, ctx.axis("axis", x.dimension(), -1)));
}

/// dx = y * (dy - sum dy * y).
template <class Real>
void softmax_gradient(call_context<Real>& ctx) {
  const auto& y = ctx.real("Out");
  const auto& d = ctx.real("Out@GRAD");
  const lines l(shape_of(y), ctx.axis("axis", y.dimension(), -1));
  auto dx = zeros<Real>(shape_of(y));
  for (std::size_t o = 0; o < l.outer; ++o)
    for (std::size_t i = 0; i < l.inner; ++i) {
      Real dot = 0;
      for (std::size_t k = 0; k < l.n; ++k)
        dot += math::multiply_no_nan(y.flat(l.at(o, k, i)), d.flat(l.at(o, k, i)));
      for (std::size_t k = 0; k < l.n; ++k)
        dx.flat(l.at(o, k, i)) =
            math::multiply_no_nan(y.flat(l.at(o, k, i)), d.flat(l.at(o, k, i)) - dot);
    }
  ctx.give("X@GRAD", std::move(dx));
}

template <class Real>
void add_softmax_kernels(kernel_table<Real>& table) {
  table["softmax"] = softmax_forward<Real>;
  table["softmax_grad"] = softmax_gradient<Real>;
}

}}}  // namespace lamina::kernel
