// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/cos_sim/executor.hpp - cosine similarity of rows.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>

#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>
#include <lamina/operators/norm/norm/executor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// The norms and the cosine of one row; all rows may share the single row of Y.
template <class Real>
struct cosine_row {
  square_sum x_norm = 0, y_norm = 0, cosine = 0;  // norms may be out of Real's range
  std::size_t x_at, y_at;

  cosine_row(const xt::xarray<Real>& x, const xt::xarray<Real>& y, const matrix& m, std::size_t r)
      : x_at(r * m.columns), y_at(y.size() == m.columns ? 0 : x_at) {
    square_sum xx = 0, yy = 0, xy = 0;
    for (std::size_t c = 0; c < m.columns; ++c) {
      xx += square_sum(x.flat(x_at + c)) * x.flat(x_at + c);
      yy += square_sum(y.flat(y_at + c)) * y.flat(y_at + c);
      xy += square_sum(x.flat(x_at + c)) * y.flat(y_at + c);
    }
    x_norm = std::sqrt(xx);
    y_norm = std::sqrt(yy);
    // The cosine of a vector of length 0 with any vector is 0.
    if (x_norm != 0 && y_norm != 0) cosine = xy / (x_norm * y_norm);
  }
};

/// Out = X . Y / (XNorm * YNorm) for each row.
template <class Real>
void cos_sim_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const auto& y = ctx.real("Y");
  const matrix m(shape_of(x), 1);
  auto out = zeros<Real>({m.rows, 1}), xn = out, yn = zeros<Real>({y.shape()[0], 1});
  for (std::size_t r = 0; r < m.rows; ++r) {
    const cosine_row<Real> row(x, y, m, r);
    out.flat(r) = static_cast<Real>(row.cosine);
    xn.flat(r) = static_cast<Real>(row.x_norm);
    yn.flat(row.y_at / m.columns) = static_cast<Real>(row.y_norm);
  }
  ctx.give("Out", std::move(out));
  ctx.give("XNorm", std::move(xn));
  ctx.give("YNorm", std::move(yn));
}

/// dx = d * (y / |y| - cos * x / |x|) / |x|, and the same with x and y exchanged; both are 0 if x
/// or y has length 0.
template <class Real>
void cos_sim_gradient(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const auto& y = ctx.real("Y");
  const auto& d = ctx.real("Out@GRAD");
  const matrix m(shape_of(x), 1);
  auto dx = zeros<Real>(shape_of(x));
  auto dy = zeros<double>(shape_of(y));  // for a shared row of Y: a sum over rows
  for (std::size_t r = 0; r < m.rows; ++r) {
    const cosine_row<Real> row(x, y, m, r);
    if (row.x_norm == 0 || row.y_norm == 0) continue;
    for (std::size_t c = 0; c < m.columns; ++c) {
      const square_sum a = x.flat(row.x_at + c) / row.x_norm, b = y.flat(row.y_at + c) / row.y_norm;
      dx.flat(row.x_at + c) += static_cast<Real>(d.flat(r) / row.x_norm * (b - row.cosine * a));
      dy.flat(row.y_at + c) += static_cast<double>(d.flat(r) / row.y_norm * (a - row.cosine * b));
    }
  }
  ctx.give("X@GRAD", std::move(dx));
  ctx.give("Y@GRAD", std::move(dy));
}

template <class Real>
void add_cos_sim_kernels(kernel_table<Real>& table) {
  table["cos_sim"] = cos_sim_forward<Real>;
  table["cos_sim_grad"] = cos_sim_gradient<Real>;
}

}}}  // namespace lamina::kernel
