// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/norm/executor.hpp - normalisation of vectors along one dimension to length
// 1.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <limits>

#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// The type for a sum of squares, which may be too large or too small for Real.
using square_sum = long double;

/// The root of a sum of squares, as a divisor. For 0 it is infinity, because 0 / infinity is 0,
/// whereas 0 / 0 would be NaN. The root may overflow Real even if the elements do not.
inline square_sum divisor_of(square_sum square) {
  return square == 0 ? std::numeric_limits<square_sum>::infinity() : std::sqrt(square);
}

/// Norm = sqrt(sum x^2 + epsilon) along an axis, Out = X / Norm.
template <class Real>
void norm_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  tensor_shape shape = shape_of(x);
  const std::size_t axis = ctx.axis("axis", shape.size(), -1);
  const lines l(shape, axis);
  const Real epsilon = ctx.real_attribute("epsilon", 1e-10);
  auto out = zeros<Real>(shape);
  shape[axis] = 1;
  auto norms = zeros<Real>(shape);
  for (std::size_t o = 0; o < l.outer; ++o)
    for (std::size_t i = 0; i < l.inner; ++i) {
      square_sum sum = epsilon;
      for (std::size_t k = 0; k < l.n; ++k)
        sum += square_sum(x.flat(l.at(o, k, i))) * x.flat(l.at(o, k, i));
      norms.flat(o * l.inner + i) = static_cast<Real>(std::sqrt(sum));
      for (std::size_t k = 0; k < l.n; ++k)
        out.flat(l.at(o, k, i)) = static_cast<Real>(x.flat(l.at(o, k, i)) / divisor_of(sum));
    }
  ctx.give("Norm", std::move(norms));
  ctx.give("Out", std::move(out));
}

/// dx = (dy - x * sum(dy * x) / norm^2) / norm.
template <class Real>
void norm_gradient(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const auto& d = ctx.real("Out@GRAD");
  const lines l(shape_of(x), ctx.axis("axis", x.dimension(), -1));
  const Real epsilon = ctx.real_attribute("epsilon", 1e-10);
  auto dx = zeros<Real>(shape_of(x));
  for (std::size_t o = 0; o < l.outer; ++o)
    for (std::size_t i = 0; i < l.inner; ++i) {
      square_sum square = epsilon, dot = 0;
      for (std::size_t k = 0; k < l.n; ++k) {
        square += square_sum(x.flat(l.at(o, k, i))) * x.flat(l.at(o, k, i));
        dot += square_sum(d.flat(l.at(o, k, i))) * x.flat(l.at(o, k, i));
      }
      const square_sum norm = divisor_of(square);
      for (std::size_t k = 0; k < l.n; ++k)
        dx.flat(l.at(o, k, i)) = static_cast<Real>(
            (d.flat(l.at(o, k, i)) - x.flat(l.at(o, k, i)) / norm * (dot / norm)) / norm);
    }
  ctx.give("X@GRAD", std::move(dx));
}

template <class Real>
void add_norm_kernels(kernel_table<Real>& table) {
  table["norm"] = norm_forward<Real>;
  table["norm_grad"] = norm_gradient<Real>;
}

}}}  // namespace lamina::kernel
