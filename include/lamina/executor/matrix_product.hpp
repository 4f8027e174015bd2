// SPDX-License-Identifier: Apache-2.0
// lamina/executor/matrix_product.hpp - computes C += A * B in any precision, with tiles of C in
// registers.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

#include <lamina/core/simd/intrinsics.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

namespace detail {

/// The kernels of matrix products in one precision.
template <class Real>
struct matrix_product {
  using vector = simd::batch<Real>;
  static constexpr std::size_t lanes = vector::size;
  static constexpr std::size_t width = 2 * lanes;  // columns of a tile
  // Rows of B that are multiplied together; they stay in the cache.
  static constexpr std::size_t depth = 256;

  /// Adds the product of `Rows` rows of A and a panel of B, [steps, width] without gaps, to a tile
  /// of C with `columns` columns.
  template <std::size_t Rows>
  static void tile(const Real* a, std::size_t stride_a, const Real* panel, std::size_t steps,
                   Real* c, std::size_t stride_c, std::size_t columns) {
    vector sum[Rows][2];
    for (std::size_t r = 0; r < Rows; ++r) sum[r][0] = sum[r][1] = vector(Real(0));
    for (std::size_t l = 0; l < steps; ++l) {
      const vector left = vector::load_unaligned(panel + l * width),
                   right = vector::load_unaligned(panel + l * width + lanes);
      for (std::size_t r = 0; r < Rows; ++r) {
        const vector factor(a[r * stride_a + l]);
        sum[r][0] = simd::fma(factor, left, sum[r][0]);
        sum[r][1] = simd::fma(factor, right, sum[r][1]);
      }
    }
    for (std::size_t r = 0; r < Rows; ++r) {
      Real* const to = c + r * stride_c;
      if (columns == width) {
        for (std::size_t v = 0; v < 2; ++v)
          (vector::load_unaligned(to + v * lanes) + sum[r][v]).store_unaligned(to + v * lanes);
      } else {
        Real row[width];
        for (std::size_t v = 0; v < 2; ++v) sum[r][v].store_unaligned(row + v * lanes);
        for (std::size_t j = 0; j < columns; ++j) to[j] += row[j];
      }
    }
  }

  /// Computes the product for many rows: packs each panel of B once and multiplies all rows of A by
  /// the panel.
  static void many_rows(const Real* a, const Real* b, Real* c, std::size_t m, std::size_t k,
                        std::size_t n) {
    std::vector<Real> panel((std::min)(depth, k) * width);
    for (std::size_t j = 0; j < n; j += width)
      for (std::size_t l = 0; l < k; l += depth) {
        const std::size_t columns = (std::min)(width, n - j), steps = (std::min)(depth, k - l);
        for (std::size_t s = 0; s < steps; ++s) {
          const Real* const from = b + (l + s) * n + j;
          std::fill(std::copy(from, from + columns, panel.data() + s * width),
                    panel.data() + (s + 1) * width, Real(0));
        }
        const Real* from = a + l;
        Real* to = c + j;
        for (std::size_t left = m; left > 0;) {
          const std::size_t rows = left >= 6 ? 6 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
          const auto add = rows == 6   ? tile<6>
                           : rows == 4 ? tile<4>
                           : rows == 2 ? tile<2>
                                       : tile<1>;
          add(from, k, panel.data(), steps, to, n, columns);
          from += rows * k;
          to += rows * n;
          left -= rows;
        }
      }
  }

  /// Computes one row: c += factor[0] * B's first row + ..., four rows of B at a time.
  static void one_row(const Real* a, const Real* b, Real* c, std::size_t k, std::size_t n) {
    for (std::size_t l = 0; l < k; l += 4) {
      const std::size_t rows = std::min<std::size_t>(4, k - l);
      const Real* row[4];
      Real factor[4];
      for (std::size_t r = 0; r < 4; ++r) {
        row[r] = b + (r < rows ? l + r : l) * n;
        factor[r] = r < rows ? a[l + r] : Real(0);
      }
      // If fewer than four rows of B are left, they are added one by one. A row with a factor of 0
      // in place of a missing row could turn infinity into NaN.
      std::size_t j = 0;
      for (; rows == 4 && j + lanes <= n; j += lanes) {
        vector sum = vector::load_unaligned(c + j);
        for (std::size_t r = 0; r < 4; ++r)
          sum = simd::fma(vector(factor[r]), vector::load_unaligned(row[r] + j), sum);
        sum.store_unaligned(c + j);
      }
      for (; j < n; ++j)
        for (std::size_t r = 0; r < rows; ++r) c[j] += factor[r] * row[r][j];
    }
  }

  /// Computes one row of the product if B is stored transposed. Each element is the inner product
  /// of two contiguous rows.
  static void one_row_transposed(const Real* a, const Real* b, Real* c, std::size_t k,
                                 std::size_t n) {
    for (std::size_t j = 0; j < n; ++j) {
      const Real* const column = b + j * k;
      vector sum(Real(0));
      std::size_t l = 0;
      for (; l + lanes <= k; l += lanes)
        sum = simd::fma(vector::load_unaligned(a + l), vector::load_unaligned(column + l), sum);
      Real lane[lanes], total = 0;
      sum.store_unaligned(lane);
      for (const Real x : lane) total += x;
      for (; l < k; ++l) total += a[l] * column[l];
      c[j] += total;
    }
  }

  /// Returns the transpose of a matrix [rows, columns].
  static std::vector<Real> transposed(const Real* from, std::size_t rows, std::size_t columns) {
    std::vector<Real> to(rows * columns);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) to[j * rows + i] = from[i * columns + j];
    return to;
  }
};

}  // namespace detail

/// Computes C += A * B for row-major matrices A [m, k] and B [k, n]; `transpose_a` and
/// `transpose_b` say that A or B is stored transposed.
template <class Real>
void add_product(const Real* a, bool transpose_a, const Real* b, bool transpose_b, Real* c,
                 std::size_t m, std::size_t k, std::size_t n) {
  if (m == 0 || k == 0 || n == 0) return;  // matrices without elements may have null addresses
  using product = detail::matrix_product<Real>;
  std::vector<Real> other_a, other_b;
  if (transpose_a && m > 1 && k > 1) {
    other_a = product::transposed(a, k, m);
    a = other_a.data();
  }
  if (m == 1 && transpose_b && k > 1) return product::one_row_transposed(a, b, c, k, n);
  if (transpose_b && k > 1 && n > 1) {
    other_b = product::transposed(b, n, k);
    b = other_b.data();
  }
  if (m == 1) return product::one_row(a, b, c, k, n);
  product::many_rows(a, b, c, m, k, n);
}

}}}  // namespace lamina::kernel
