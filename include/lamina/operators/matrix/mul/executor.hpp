// SPDX-License-Identifier: Apache-2.0
// lamina/operators/matrix/mul/executor.hpp - mul: products of variables that are flattened to
// matrices.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>
#include <lamina/executor/matrix_product.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Out = X * Y, where X and Y are flattened to matrices.
template <class Real>
void mul_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const auto& y = ctx.real("Y");
  const tensor_shape xs = shape_of(x), ys = shape_of(y);
  const std::size_t xn = static_cast<std::size_t>(ctx.integer("x_num_col_dims", 1));
  const std::size_t yn = static_cast<std::size_t>(ctx.integer("y_num_col_dims", 1));
  const matrix a(xs, xn), b(ys, yn);
  if (a.columns != b.rows)
    ctx.fail("expected X and Y to fit, found matrices of " + to_string({a.rows, a.columns}) +
             " and " + to_string({b.rows, b.columns}));
  tensor_shape shape(xs.begin(), xs.begin() + static_cast<std::ptrdiff_t>(xn));
  shape.insert(shape.end(), ys.begin() + static_cast<std::ptrdiff_t>(yn), ys.end());
  auto out = zeros<Real>(shape);
  add_product(x.data(), false, y.data(), false, out.data(), a.rows, a.columns, b.columns);
  ctx.give("Out", std::move(out));
}

/// dX = dOut * Y^T, dY = X^T * dOut.
template <class Real>
void mul_gradient(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const auto& y = ctx.real("Y");
  const auto& d = ctx.real("Out@GRAD");
  const tensor_shape xs = shape_of(x), ys = shape_of(y);
  const matrix a(xs, static_cast<std::size_t>(ctx.integer("x_num_col_dims", 1)));
  const matrix b(ys, static_cast<std::size_t>(ctx.integer("y_num_col_dims", 1)));
  auto dx = zeros<Real>(xs), dy = zeros<Real>(ys);
  add_product(d.data(), false, y.data(), true, dx.data(), a.rows, b.columns, a.columns);
  add_product(x.data(), true, d.data(), false, dy.data(), a.columns, a.rows, b.columns);
  ctx.give("X@GRAD", std::move(dx));
  ctx.give("Y@GRAD", std::move(dy));
}

template <class Real>
void add_mul_kernels(kernel_table<Real>& table) {
  table["mul"] = mul_forward<Real>;
  table["mul_grad"] = mul_gradient<Real>;
}

}}}  // namespace lamina::kernel
