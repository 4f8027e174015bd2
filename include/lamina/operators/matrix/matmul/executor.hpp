// SPDX-License-Identifier: Apache-2.0
// lamina/operators/matrix/matmul/executor.hpp - the operator matmul and its gradient, batches of
// matrix products.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>
#include <lamina/executor/matrix_product.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// One operand of a matmul: the number and sizes of its matrices, and whether the product
/// transposes them.
struct matmul_side {
  std::size_t batches = 1, rows = 1, columns = 1;  // after the optional transposition
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
  /// Returns the offset of matrix i; all products use a single matrix.
  std::size_t at(std::size_t i) const { return batches == 1 ? 0 : i * rows * columns; }
};

/// Computes the NaN elements of a product again, without the terms that have a 0 in an operand
/// whose zeros are skipped. If all other terms are finite, the element gets the same bits as in a
/// product of finite matrices. `columns` is the number of columns of B after the optional
/// transposition.
template <class Real>
void skip_zero_terms(const Real* a, bool a_turned, const Real* b, bool b_turned, Real* c,
                     std::size_t rows, std::size_t inner, std::size_t columns, bool in_a,
                     bool in_b) {
  if (std::none_of(c, c + rows * columns, [](Real x) { return std::isnan(x); })) return;
  const auto finite = [](const Real* from, std::size_t count) {
    std::vector<Real> to(from, from + count);
    for (Real& x : to)
      if (!std::isfinite(x)) x = 0;
    return to;
  };
  std::vector<Real> clean(rows * columns);
  add_product(finite(a, rows * inner).data(), a_turned, finite(b, inner * columns).data(), b_turned,
              clean.data(), rows, inner, columns);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      Real& sum = c[i * columns + j];
      if (sum == sum) continue;
      bool is_finite = true;
      sum = 0;
      for (std::size_t l = 0; l < inner; ++l) {
        const Real x = a_turned ? a[l * rows + i] : a[i * inner + l];
        const Real y = b_turned ? b[j * inner + l] : b[l * columns + j];
        if ((in_a && x == 0) || (in_b && y == 0)) continue;
        is_finite = is_finite && std::isfinite(x) && std::isfinite(y);
        sum += x * y;
      }
      if (is_finite) sum = clean[i * columns + j];
    }
}

/// Out = alpha * X * Y, where the last two dimensions of X and Y are matrices.
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
  for (std::size_t i = 0; i < batches; ++i) {
    add_product(x.data() + a.at(i), a.transposed, y.data() + b.at(i), b.transposed,
                out.data() + i * size, a.rows, a.columns, b.columns);
    if (ctx.flag("skip_zeros"))
      skip_zero_terms(x.data() + a.at(i), a.transposed, y.data() + b.at(i), b.transposed,
                      out.data() + i * size, a.rows, a.columns, b.columns, true, false);
  }
  out *= ctx.real_attribute("alpha", 1);
  ctx.give("Out", std::move(out));
}

/// With A and B after the optional transposition, dA = alpha * dOut * B^T and dB = alpha * A^T *
/// dOut. If A or B is the transposed operand, the gradient of the operand is the transposed
/// product. If all products share a matrix, its gradient is the sum over all products.
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
  const bool zeros_of_x = ctx.flag("skip_zeros"), zeros_of_d = ctx.flag("skip_zero_grads");
  // Adds the product of two matrices to the gradient of a matrix. Terms with zeros are skipped in
  // the product before it is added.
  const auto add = [&](const Real* l, bool l_turned, const Real* r, bool r_turned, Real* to,
                       std::size_t rows, std::size_t inner, std::size_t columns, bool in_l,
                       bool in_r) {
    if (!in_l && !in_r) return add_product(l, l_turned, r, r_turned, to, rows, inner, columns);
    std::vector<Real> own(rows * columns);
    add_product(l, l_turned, r, r_turned, own.data(), rows, inner, columns);
    skip_zero_terms(l, l_turned, r, r_turned, own.data(), rows, inner, columns, in_l, in_r);
    for (std::size_t e = 0; e < own.size(); ++e) to[e] += own[e];
  };
  for (std::size_t i = 0; i < batches; ++i) {
    const Real* grad = d.data() + i * m * n;
    const Real* left = x.data() + a.at(i);
    const Real* right = y.data() + b.at(i);
    if (a.transposed)
      add(right, b.transposed, grad, true, dx.data() + a.at(i), k, n, m, false, zeros_of_d);
    else
      add(grad, false, right, !b.transposed, dx.data() + a.at(i), m, n, k, zeros_of_d, false);
    if (b.transposed)
      add(grad, true, left, a.transposed, dy.data() + b.at(i), n, m, k, zeros_of_d, zeros_of_x);
    else
      add(left, !a.transposed, grad, false, dy.data() + b.at(i), k, m, n, zeros_of_x, zeros_of_d);
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

}}}  // namespace lamina::kernel
