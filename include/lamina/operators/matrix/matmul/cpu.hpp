// SPDX-License-Identifier: Apache-2.0
// lamina/operators/matrix/matmul/cpu.hpp - the kernels of matmul, products of matrices and of
// batches of matrices.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/matrix/matmul/common.hpp>
#include <lamina/operators/matrix/matmul/definition.hpp>
#if LAMINA_DEFINES
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <lamina/engine/common/real_numbers.hpp>
#include <lamina/engine/cpu/gemm/gemm_row_major.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

template <>
struct call_kernel<operators::matmul> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::matmul>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);

 private:
  /// Computes the results that are NaN again, without the terms that skip_zeros excludes.
  template <class Real>
  LAMINA_KERNEL static void skip_zeros(const call_context& c, const matmul_shape& s,
                                       const matrix_side& gx, const matrix_side& gy);
};

#if LAMINA_DEFINES

namespace detail {

/// One operand of a product, and whether terms with a zero in this operand are skipped.
template <class Real>
struct skipped_side {
  const Real* data;
  std::ptrdiff_t stride;
  bool transposed, skips;

  Real at(std::ptrdiff_t row, std::ptrdiff_t column) const {
    return transposed ? data[column * stride + row] : data[row * stride + column];
  }
  /// Returns a copy in `storage`, with 0 in place of NaN and infinity.
  skipped_side finite(int rows, int columns, std::vector<Real>& storage) const {
    const int height = transposed ? columns : rows, width = transposed ? rows : columns;
    storage.resize(static_cast<std::size_t>(height) * static_cast<std::size_t>(width));
    for (int r = 0; r < height; ++r)
      for (int j = 0; j < width; ++j) {
        const Real x = data[r * stride + j];
        storage[static_cast<std::size_t>(r) * static_cast<std::size_t>(width) +
                static_cast<std::size_t>(j)] = x - x == 0 ? x : Real(0);
      }
    return {storage.data(), width, transposed, skips};
  }
};

/// Computes the NaN elements of a product again, without the terms that have a 0 in an operand that
/// skips zeros: 0 times NaN or infinity is NaN. If all other terms are finite, the element gets the
/// same bits as in a product of finite matrices. The result is a sum of `count` products; sides(i)
/// returns both operands of product i.
template <class Real, class Sides>
LAMINA_COLD void skip_zero_terms(const call_context& c, int m, int k, int n, Real alpha, int count,
                                 const Sides& sides, Real* to, std::ptrdiff_t stride) {
  std::vector<Real> left_copy, right_copy,
      clean(static_cast<std::size_t>(m) * static_cast<std::size_t>(n));
  for (int i = 0; i < count; ++i) {
    const auto [left, right] = sides(i);
    const auto l = left.finite(m, k, left_copy), r = right.finite(k, n, right_copy);
    gemm_row_major(m, k, n, alpha, {l.data, l.stride, l.transposed},
                   {r.data, r.stride, r.transposed}, clean.data(), n, i > 0,
                   numbers_at<Real>(c.scratch()));
  }
  const auto sum_of_terms = [&](int row, int column, bool& is_finite) {
    double all = 0;
    for (int i = 0; i < count; ++i) {
      const auto [left, right] = sides(i);
      for (int t = 0; t < k; ++t) {
        const Real x = left.at(row, t), y = right.at(t, column);
        if ((left.skips && x == 0) || (right.skips && y == 0)) continue;
        is_finite = is_finite && x - x == 0 && y - y == 0;
        all += static_cast<double>(x) * static_cast<double>(y);
      }
    }
    return static_cast<Real>(all) * alpha;
  };
  for (int row = 0; row < m; ++row)
    for (int j = 0; j < n; ++j) {
      Real& sum = to[row * stride + j];
      if (sum == sum) continue;
      bool is_finite = true;
      sum = sum_of_terms(row, j, is_finite);
      if (is_finite)
        sum = clean[static_cast<std::size_t>(row) * static_cast<std::size_t>(n) +
                    static_cast<std::size_t>(j)];
    }
}
/// Whether a matrix may contain NaN. Adds up x - x over all elements: the sum is NaN if an element
/// is NaN or infinite, else 0.
template <class Real>
LAMINA_INLINE bool has_nan(const Real* x, int m, int n, std::ptrdiff_t stride) {
  using vector = vector_in<Real>;
  constexpr int lanes = lanes_in<Real>;
  vector sums(Real(0));
  Real sum = 0;
  for (int r = 0; r < m; ++r, x += stride) {
    int j = 0;
    for (; j + lanes <= n; j += lanes) {
      const vector v = vector::load_unaligned(x + j);
      sums += v - v;
    }
    for (; j < n; ++j) sum += x[j] - x[j];
  }
  return !(sum_of(sums) + sum == 0);
}

}  // namespace detail

template <class Real>
void call_kernel<operators::matmul>::run(const call_context& c) {
  const operand x = c.input(0), y = c.input(1), out = c.output(0);
  require_real<Real>(c, x);
  const matmul_shape s(c, x, y, out);
  const Real alpha = static_cast<Real>(c.number(2));
  const bool skips = c.flag(3);
  for (int i = 0; i < s.count; ++i) {
    const Real *const a = x.row<const Real>(0) + s.x.at(i), *const b =
                                                                y.row<const Real>(0) + s.y.at(i);
    Real* const to = out.row<Real>(0) + s.out_at(i);
    gemm_row_major(s.m, s.k, s.n, alpha, {a, s.x.stride, s.x.transposed},
                   {b, s.y.stride, s.y.transposed}, to, s.out_stride, false,
                   numbers_at<Real>(c.scratch()));
    if (skips && detail::has_nan(to, s.m, s.n, s.out_stride))
      detail::skip_zero_terms<Real>(
          c, s.m, s.k, s.n, alpha, 1,
          [&](int) {
            return std::pair{detail::skipped_side<Real>{a, s.x.stride, s.x.transposed, true},
                             detail::skipped_side<Real>{b, s.y.stride, s.y.transposed, false}};
          },
          to, s.out_stride);
  }
}
LAMINA_INSTANCE(void call_kernel<operators::matmul>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::matmul>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<operators::matmul>::scratch(const call_context& c) {
  const matmul_shape s(c, c.input(0), c.input(1), c.output(0));
  return in_floats<Real>(gemm_row_major_scratch_floats<Real>(s.m, s.k, s.n));
}
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<operators::matmul>::scratch<float>(const call_context&))
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<operators::matmul>::scratch<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::matmul>>::run(const call_context& c) {
  const operand x = c.input(0), y = c.input(1), grad = c.input(2);
  const operand dx = c.output(0), dy = c.output(1);
  const matmul_shape s(c, x, y, grad);
  const Real alpha = static_cast<Real>(c.number(2));
  // If all products share a matrix, its gradient is a sum: the first product is stored, the others
  // are added.
  const matrix_side gx = side_like(dx ? dx : x, s.x, c.flag(0), true);
  const matrix_side gy = side_like(dy ? dy : y, s.y, c.flag(1), false);
  if (dx && s.count == 0) clear(dx);
  if (dy && s.count == 0) clear(dy);
  for (int i = 0; i < s.count; ++i) {
    const Real* d = grad.row<const Real>(0) + s.out_at(i);
    const Real* a = x.row<const Real>(0) + s.x.at(i);
    const Real* b = y.row<const Real>(0) + s.y.at(i);
    if (dx) {
      Real* to = dx.row<Real>(0) + gx.at(i);
      const bool adds = i > 0 && s.x.count == 1;
      if (s.x.transposed)
        gemm_row_major(s.k, s.n, s.m, alpha, {b, s.y.stride, s.y.transposed},
                       {d, s.out_stride, true}, to, gx.stride, adds, numbers_at<Real>(c.scratch()));
      else
        gemm_row_major(s.m, s.n, s.k, alpha, {d, s.out_stride, false},
                       {b, s.y.stride, !s.y.transposed}, to, gx.stride, adds,
                       numbers_at<Real>(c.scratch()));
    }
    if (dy) {
      Real* to = dy.row<Real>(0) + gy.at(i);
      const bool adds = i > 0 && s.y.count == 1;
      if (s.y.transposed)
        gemm_row_major(s.n, s.m, s.k, alpha, {d, s.out_stride, true},
                       {a, s.x.stride, s.x.transposed}, to, gy.stride, adds,
                       numbers_at<Real>(c.scratch()));
      else
        gemm_row_major(s.k, s.m, s.n, alpha, {a, s.x.stride, !s.x.transposed},
                       {d, s.out_stride, false}, to, gy.stride, adds,
                       numbers_at<Real>(c.scratch()));
    }
  }
  if (c.flag(3) || c.flag(4)) skip_zeros<Real>(c, s, gx, gy);
}

template <class Real>
void call_kernel<gradient_of<operators::matmul>>::skip_zeros(const call_context& c,
                                                             const matmul_shape& s,
                                                             const matrix_side& gx,
                                                             const matrix_side& gy) {
  using side = detail::skipped_side<Real>;
  const operand x = c.input(0), y = c.input(1), grad = c.input(2);
  const Real alpha = static_cast<Real>(c.number(2));
  const bool in_x = c.flag(3), in_d = c.flag(4);
  const auto repair = [&](const operand& dz, const matrix_side& g, int shared, int m, int k, int n,
                          const auto& sides) {
    const int each = shared == 1 ? s.count : 1;  // products that a matrix of the gradient adds up
    for (int i = 0; dz && i < s.count; i += each) {
      Real* const to = dz.row<Real>(0) + g.at(i);
      if (detail::has_nan(to, m, n, g.stride))
        detail::skip_zero_terms<Real>(
            c, m, k, n, alpha, each, [&](int p) { return sides(i + p); }, to, g.stride);
    }
  };
  const auto grad_side = [&](int i, bool turned) {
    return side{grad.row<const Real>(0) + s.out_at(i), s.out_stride, turned, in_d};
  };
  const auto left = [&](int i, bool turned) {
    return side{x.row<const Real>(0) + s.x.at(i), s.x.stride, s.x.transposed != turned, in_x};
  };
  const auto right = [&](int i, bool turned) {
    return side{y.row<const Real>(0) + s.y.at(i), s.y.stride, s.y.transposed != turned, false};
  };
  if (s.x.transposed)
    repair(c.output(0), gx, s.x.count, s.k, s.n, s.m, [&](int i) {
      return std::pair{right(i, false), grad_side(i, true)};
    });
  else if (in_d)
    repair(c.output(0), gx, s.x.count, s.m, s.n, s.k, [&](int i) {
      return std::pair{grad_side(i, false), right(i, true)};
    });
  if (s.y.transposed)
    repair(c.output(1), gy, s.y.count, s.n, s.m, s.k, [&](int i) {
      return std::pair{grad_side(i, true), left(i, false)};
    });
  else
    repair(c.output(1), gy, s.y.count, s.k, s.m, s.n, [&](int i) {
      return std::pair{left(i, true), grad_side(i, false)};
    });
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::matmul>>::skip_zeros<float>(
    const call_context&, const matmul_shape&, const matrix_side&, const matrix_side&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::matmul>>::skip_zeros<double>(
    const call_context&, const matmul_shape&, const matrix_side&, const matrix_side&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::matmul>>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::matmul>>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<gradient_of<operators::matmul>>::scratch(const call_context& c) {
  const matmul_shape s(c, c.input(0), c.input(1), c.input(2));
  return in_floats<Real>((std::max)({gemm_row_major_scratch_floats<Real>(s.m, s.n, s.k),
                                     gemm_row_major_scratch_floats<Real>(s.k, s.n, s.m),
                                     gemm_row_major_scratch_floats<Real>(s.k, s.m, s.n),
                                     gemm_row_major_scratch_floats<Real>(s.n, s.m, s.k)}));
}
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<gradient_of<operators::matmul>>::scratch<float>(const call_context&))
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<gradient_of<operators::matmul>>::scratch<double>(
    const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
