// SPDX-License-Identifier: Apache-2.0
// Products of row-major matrices against sums in
// double.
#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/cpu/gemm/gemm_row_major.hpp>

namespace cpu = lamina::engine::cpu;

namespace {

// A matrix whose rows have gaps that are not numbers.
template <class Real>
std::vector<Real> matrix(int rows, int columns, int stride, unsigned seed) {
  std::vector<Real> m(static_cast<std::size_t>((rows - 1) * stride + columns),
                      std::numeric_limits<Real>::quiet_NaN());
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      seed = seed * 1664525U + 1013904223U;
      m[static_cast<std::size_t>(i * stride + j)] =
          static_cast<Real>(seed >> 8) / Real(8388608) - Real(1);
    }
  }
  return m;
}

// The larger of two errors; one that is not a number is larger than all.
double larger(double worst, long double exact_off) {
  const double off = static_cast<double>(exact_off);
  if (std::isnan(off)) return std::numeric_limits<double>::infinity();
  return off > worst ? off : worst;
}

// Rounding of a sum of `depth` products of numbers below one: far below the loss or doubling of one
// product.
template <class Real>
double tolerance(int depth) {
  return (1e-6 + 1.5e-7 * depth) * (sizeof(Real) > 4 ? 0x1p-29 : 1);
}

struct aligned_free {
  void operator()(void* p) const { ::operator delete (p, std::align_val_t{64}); }
};

template <class Real>
void check(int m_size, int k_size, int n_size, bool transpose_a, bool transpose_b, bool accumulate,
           Real alpha) {
  INFO("M " << m_size << " K " << k_size << " N " << n_size << " flags " << transpose_a
            << transpose_b << accumulate);
  const int a_rows = transpose_a ? k_size : m_size;
  const int a_columns = transpose_a ? m_size : k_size;
  const int b_rows = transpose_b ? n_size : k_size;
  const int b_columns = transpose_b ? k_size : n_size;
  const int c_stride = n_size + 3;
  const auto a = matrix<Real>(a_rows, a_columns, a_columns + 1, 11);
  const auto b = matrix<Real>(b_rows, b_columns, b_columns + 2, 12);
  const auto before = matrix<Real>(m_size, n_size, c_stride, 13);
  auto c = before;
  const auto floats =
      static_cast<std::size_t>(cpu::gemm_row_major_scratch_floats<Real>(m_size, k_size, n_size));
  const std::unique_ptr<Real, aligned_free> scratch(
      static_cast<Real*>(::operator new (floats * sizeof(Real), std::align_val_t{64})));
  cpu::gemm_row_major(m_size, k_size, n_size, alpha, {a.data(), a_columns + 1, transpose_a},
                      {b.data(), b_columns + 2, transpose_b}, c.data(), c_stride, accumulate,
                      scratch.get());
  double worst = 0;
  bool gaps_kept = true;
  for (int i = 0; i < m_size; ++i) {
    for (int j = 0; j < n_size; ++j) {
      long double sum = 0;
      for (int k = 0; k < k_size; ++k) {
        const int at_a = transpose_a ? k * (a_columns + 1) + i : i * (a_columns + 1) + k;
        const int at_b = transpose_b ? j * (b_columns + 2) + k : k * (b_columns + 2) + j;
        sum += static_cast<long double>(a[static_cast<std::size_t>(at_a)]) *
               b[static_cast<std::size_t>(at_b)];
      }
      const auto at = static_cast<std::size_t>(i * c_stride + j);
      const long double expected = alpha * sum + (accumulate ? before[at] : Real(0));
      const long double off = std::abs(c[at] - expected);
      worst = larger(worst, off);
    }
    for (int j = n_size; j < c_stride && i + 1 < m_size; ++j) {
      gaps_kept = gaps_kept && std::isnan(c[static_cast<std::size_t>(i * c_stride + j)]);
    }
  }
  REQUIRE(worst <= 2 * tolerance<Real>(k_size));
  REQUIRE(gaps_kept);
}

}  // namespace

TEMPLATE_TEST_CASE("gemm_row_major: all transposes, plain and accumulated", "[gemm]", float,
                   double) {
  for (int flags = 0; flags < 8; ++flags) {
    const bool a = (flags & 1) != 0;
    const bool b = (flags & 2) != 0;
    const bool accumulate = (flags & 4) != 0;
    for (int m_size : {1, 2, 6, 13, 40}) {
      for (int k_size : {1, 8, 19, 64}) {
        for (int n_size : {1, 7, 16, 33, 64})
          check<TestType>(m_size, k_size, n_size, a, b, accumulate, TestType(0.5));
      }
    }
    check<TestType>(64, 1024, 65, a, b, accumulate, TestType(1));
    check<TestType>(30, 1100, 20, a, b, accumulate, TestType(-2));
  }
}
