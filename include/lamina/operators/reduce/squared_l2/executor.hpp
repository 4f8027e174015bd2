// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/squared_l2/executor.hpp - the operators l1_norm, squared_l2_norm and
// squared_l2_distance: norms of arrays, and distances of rows.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>

#include <lamina/core/numbers/math.hpp>
#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

template <class Real, bool Squared>
void whole_norm_forward(call_context<Real>& ctx) {
  Real sum = 0;
  for (const Real x : ctx.real("X")) sum += Squared ? x * x : std::abs(x);
  ctx.give("Out", tensor::filled<Real>({1}, sum));
}
template <class Real, bool Squared>
void whole_norm_gradient(call_context<Real>& ctx) {
  const Real grad = ctx.real("Out@GRAD").flat(0);
  xt::xarray<Real> dx = ctx.real("X");
  for (Real& x : dx) x = grad * (Squared ? 2 * x : math::sign(x));
  ctx.give("X@GRAD", std::move(dx));
}

/// Out = the sum of squares of each row of X - Y. If Y has a single row, this row is subtracted
/// from each row of X.
template <class Real>
void squared_l2_distance_forward(call_context<Real>& ctx) {
  xt::xarray<Real> difference = ctx.real("X");
  const auto& y = ctx.real("Y");
  const matrix m(shape_of(difference), 1);
  if (y.size() != difference.size() && y.size() != m.columns)
    ctx.fail("expected rows of " + to_string(shape_of(difference)) + ", or one, found " +
             to_string(shape_of(y)));
  auto out = zeros<Real>({m.rows, 1});
  for (std::size_t i = 0; i < difference.size(); ++i) {
    difference.flat(i) -= y.flat(i % y.size());
    out.flat(i / m.columns) += difference.flat(i) * difference.flat(i);
  }
  ctx.give("sub_result", std::move(difference));
  ctx.give("Out", std::move(out));
}
template <class Real>
void squared_l2_distance_gradient(call_context<Real>& ctx) {
  const auto& d = ctx.real("Out@GRAD");
  xt::xarray<Real> dx = ctx.real("sub_result");
  const matrix m(shape_of(dx), 1);
  auto dy = zeros<Real>(ctx.input("Y").shape());
  for (std::size_t i = 0; i < dx.size(); ++i) {
    dx.flat(i) *= 2 * d.flat(i / m.columns);
    dy.flat(i % dy.size()) -= dx.flat(i);
  }
  ctx.give("X@GRAD", std::move(dx));
  ctx.give("Y@GRAD", std::move(dy));
}

template <class Real>
void add_squared_l2_kernels(kernel_table<Real>& table) {
  table["l1_norm"] = whole_norm_forward<Real, false>;
  table["l1_norm_grad"] = whole_norm_gradient<Real, false>;
  table["squared_l2_norm"] = whole_norm_forward<Real, true>;
  table["squared_l2_norm_grad"] = whole_norm_gradient<Real, true>;
  table["squared_l2_distance"] = squared_l2_distance_forward<Real>;
  table["squared_l2_distance_grad"] = squared_l2_distance_gradient<Real>;
}

}}}  // namespace lamina::kernel
