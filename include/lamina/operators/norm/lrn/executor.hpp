// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/lrn/executor.hpp - local response normalisation.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Calls f(element, neighbour) for the n channels around each element. The neighbour is the element
/// at the same position of another channel.
template <class F>
void for_each_neighbour(const lines& l, int n, F f) {
  for (std::size_t o = 0; o < l.outer; ++o)
    for (int c = 0; c < static_cast<int>(l.n); ++c) {
      const int first = (std::max)(0, c - (n - 1) / 2);
      const int end = (std::min)(static_cast<int>(l.n), c - (n - 1) / 2 + n);
      for (int k = first; k < end; ++k)
        for (std::size_t i = 0; i < l.inner; ++i)
          f(l.at(o, static_cast<std::size_t>(c), i), l.at(o, static_cast<std::size_t>(k), i));
    }
}

template <class Real>
void lrn_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const Real alpha = ctx.real_attribute("alpha"), beta = ctx.real_attribute("beta");
  auto middle = zeros<Real>(shape_of(x));
  middle += ctx.real_attribute("k");
  for_each_neighbour(lines(shape_of(x), 1), ctx.integer("n"),
                     [&](std::size_t i, std::size_t nearby) {
                       middle.flat(i) += alpha * x.flat(nearby) * x.flat(nearby);
                     });
  auto y = zeros<Real>(shape_of(x));
  for (std::size_t i = 0; i < x.size(); ++i)
    y.flat(i) = middle.flat(i) == 0 ? Real(0) : x.flat(i) * std::pow(middle.flat(i), -beta);
  ctx.give("Out", std::move(y));
  ctx.give("MidOut", std::move(middle));
}
/// dx = dy * mid^-beta - 2 alpha beta x * the sum of dy * y / mid over the channels whose sum
/// contains x.
template <class Real>
void lrn_gradient(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const auto& y = ctx.real("Out");
  const auto& middle = ctx.real("MidOut");
  const auto& d = ctx.real("Out@GRAD");
  const Real alpha = ctx.real_attribute("alpha"), beta = ctx.real_attribute("beta");
  auto dx = zeros<Real>(shape_of(x));
  for (std::size_t i = 0; i < x.size(); ++i)
    dx.flat(i) = middle.flat(i) == 0 ? Real(0) : d.flat(i) * std::pow(middle.flat(i), -beta);
  for_each_neighbour(
      lines(shape_of(x), 1), ctx.integer("n"), [&](std::size_t i, std::size_t nearby) {
        if (middle.flat(i) != 0)
          dx.flat(nearby) -=
              Real(2) * alpha * beta * x.flat(nearby) * d.flat(i) * y.flat(i) / middle.flat(i);
      });
  ctx.give("X@GRAD", std::move(dx));
}

template <class Real>
void add_lrn_kernels(kernel_table<Real>& table) {
  table["lrn"] = lrn_forward<Real>;
  table["lrn_grad"] = lrn_gradient<Real>;
}

}}}  // namespace lamina::kernel
