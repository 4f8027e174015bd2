// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/softmax/executor.hpp - sequence_softmax: the softmax over the rows of
// each sequence.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>

#include <lamina/core/numbers/math.hpp>
#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

template <class Real>
void sequence_softmax_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const lod::level& begin = ctx.lod("X").last();
  if (x.size() != begin.back())
    ctx.fail("expected one number per row, found the shape " + to_string(shape_of(x)));
  auto out = zeros<Real>(shape_of(x));
  for (std::size_t s = 0; s + 1 < begin.size(); ++s) {
    if (begin[s] == begin[s + 1]) continue;
    Real most = x.flat(begin[s]);
    double sum = 0;
    for (std::size_t r = begin[s]; r < begin[s + 1]; ++r) most = (std::max)(most, x.flat(r));
    for (std::size_t r = begin[s]; r < begin[s + 1]; ++r)
      sum += static_cast<double>(out.flat(r) = std::exp(x.flat(r) - most));
    for (std::size_t r = begin[s]; r < begin[s + 1]; ++r) out.flat(r) /= static_cast<Real>(sum);
  }
  ctx.give("Out", std::move(out));
}

template <class Real>
void sequence_softmax_gradient(call_context<Real>& ctx) {
  const auto& y = ctx.real("Out");
  const auto& dy = ctx.real("Out@GRAD");
  const lod::level& begin = ctx.lod("Out").last();
  auto dx = zeros<Real>(shape_of(y));
  for (std::size_t s = 0; s + 1 < begin.size(); ++s) {
    Real sum = 0;
    for (std::size_t r = begin[s]; r < begin[s + 1]; ++r)
      sum += math::multiply_no_nan(y.flat(r), dy.flat(r));
    for (std::size_t r = begin[s]; r < begin[s + 1]; ++r)
      dx.flat(r) = math::multiply_no_nan(y.flat(r), dy.flat(r) - sum);
  }
  ctx.give("X@GRAD", std::move(dx));
}

template <class Real>
void add_sequence_softmax_kernels(kernel_table<Real>& table) {
  table["sequence_softmax"] = sequence_softmax_forward<Real>;
  table["sequence_softmax_grad"] = sequence_softmax_gradient<Real>;
}

}}}  // namespace lamina::kernel
