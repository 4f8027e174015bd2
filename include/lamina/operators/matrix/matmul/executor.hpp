// SPDX-License-Identifier: Apache-2.0
// lamina/operators/matrix/matmul/executor.hpp - batches of matrix products: matmul and its
// gradient.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/executor/kernel_shape.hpp>
#include <lamina/executor/kernel_table.hpp>
#include <lamina/executor/matrix_product.hpp>

namespace lamina::inline LAMINA_ABI::kernel {

/// One side of a matmul: a stack of matrices, how they are stored, and how they are read.
struct matmul_side {
  std::size_t batches = 1, rows = 1, columns = 1;  // as read: after the transposition
  bool transposed = false;

  matmul_side(tensor_shape shape, bool transpose, bool left) : transposed(transpose) {
    if (shape.size() == 1) {
      shape.insert(left ? shape.begin() : shape.end(), 1);
      transposed = false;
    }
    const std::size_t n = shape.size();
    for (std::size_t d = 0; d + 2 < n; ++d) batches *= shape[d];
    rows = transposed ? shape[n - 1] : shape[n - 2];
    columns = transposed ? shape[n - 2] : shape[n - 1];
  }
  /// The offset of matrix i; a single matrix is used by all products.
  std::size_t at(std::size_t i) const { return batches == 1 ? 0 : i * rows * columns; }
};

/// Out = alpha * X * Y over the last two dimensions.
template <class Real>
void matmul_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const auto& y = ctx.real("Y");
  const tensor_shape xs = shape_of(x), ys = shape_of(y);
  const matmul_side a(xs, ctx.flag("transpose_X"), true), b(ys, ctx.flag("transpose_Y"), false);
  if (a.columns != b.rows || (a.batches != b.batches && a.batches != 1 && b.batches != 1))
    ctx.fail("expected X and Y to fit, found " + to_string(xs) + " and " + to_string(ys));
  const std::size_t batches = a.batches == 1 ? b.batches : a.batches;
  tensor_shape shape = xs.size() >= ys.size() ? xs : ys;
  shape.resize(shape.size() > 2 ? shape.size() - 2 : 0);
  if (xs.size() > 1) shape.push_back(a.rows);
  if (ys.size() > 1) shape.push_back(b.columns);
  if (shape.empty()) shape.push_back(1);
  auto out = zeros<Real>(shape);
  const std::size_t size = a.rows * b.columns;
  for (std::size_t i = 0; i < batches; ++i)
    add_product(x.data() + a.at(i), a.transposed, y.data() + b.at(i), b.transposed,
                out.data() + i * size, a.rows, a.columns, b.columns);
  out *= ctx.real_attribute("alpha", 1);
  ctx.give("Out", std::move(out));
}

/// For matrices as they are read, dA = alpha * dOut * B^T and dB = alpha * A^T * dOut. A matrix
/// that is stored transposed gets the transposed product. A matrix that all products share gets the
/// sum.
template <class Real>
void matmul_gradient(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const auto& y = ctx.real("Y");
  const auto& d = ctx.real("Out@GRAD");
  const matmul_side a(shape_of(x), ctx.flag("transpose_X"), true);
  const matmul_side b(shape_of(y), ctx.flag("transpose_Y"), false);
  const std::size_t batches = a.batches == 1 ? b.batches : a.batches;
  const std::size_t m = a.rows, k = a.columns, n = b.columns;
  auto dx = zeros<Real>(shape_of(x)), dy = zeros<Real>(shape_of(y));
  for (std::size_t i = 0; i < batches; ++i) {
    const Real* slope = d.data() + i * m * n;
    const Real* left = x.data() + a.at(i);
    const Real* right = y.data() + b.at(i);
    if (a.transposed)
      add_product(right, b.transposed, slope, true, dx.data() + a.at(i), k, n, m);
    else
      add_product(slope, false, right, !b.transposed, dx.data() + a.at(i), m, n, k);
    if (b.transposed)
      add_product(slope, true, left, a.transposed, dy.data() + b.at(i), n, m, k);
    else
      add_product(left, !a.transposed, slope, false, dy.data() + b.at(i), k, m, n);
  }
  dx *= ctx.real_attribute("alpha", 1);
  dy *= ctx.real_attribute("alpha", 1);
  ctx.give("X@GRAD", std::move(dx));
  ctx.give("Y@GRAD", std::move(dy));
}

template <class Real>
void add_matrix_kernels(kernel_table<Real>& table) {
  table["matmul"] = matmul_forward<Real>;
  table["matmul_grad"] = matmul_gradient<Real>;
}

}  // namespace lamina::inline LAMINA_ABI::kernel
