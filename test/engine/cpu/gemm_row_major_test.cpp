// SPDX-License-Identifier: Apache-2.0
// lamina/test/engine/cpu/gemm_row_major_test.cpp - products of row-major matrices against sums in
// double.
#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/cpu/gemm_row_major.hpp>

namespace cpu = lamina::engine::cpu;

namespace {

// A matrix whose rows have gaps that are not numbers.
std::vector<float> matrix(int rows, int columns, int stride, unsigned seed) {
  std::vector<float> m(static_cast<std::size_t>((rows - 1) * stride + columns),
                       std::numeric_limits<float>::quiet_NaN());
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      seed = seed * 1664525U + 1013904223U;
      m[static_cast<std::size_t>(i * stride + j)] = static_cast<float>(seed >> 8) / 8388608.F - 1.F;
    }
  }
  return m;
}

// The larger of two errors; one that is not a number is larger than all.
double larger(double worst, double off) {
  if (std::isnan(off)) return std::numeric_limits<double>::infinity();
  return off > worst ? off : worst;
}

// Rounding of a sum of `depth` products of numbers below one: far below the loss or doubling of one
// product.
double tolerance(int depth) { return 1e-6 + 1.5e-7 * depth; }

struct aligned_free {
  void operator()(float* p) const { ::operator delete (p, std::align_val_t{64}); }
};

void check(int m_size, int k_size, int n_size, bool transpose_a, bool transpose_b, bool accumulate,
           float alpha) {
  INFO("M " << m_size << " K " << k_size << " N " << n_size << " flags " << transpose_a
            << transpose_b << accumulate);
  const int a_rows = transpose_a ? k_size : m_size;
  const int a_columns = transpose_a ? m_size : k_size;
  const int b_rows = transpose_b ? n_size : k_size;
  const int b_columns = transpose_b ? k_size : n_size;
  const int c_stride = n_size + 3;
  const auto a = matrix(a_rows, a_columns, a_columns + 1, 11);
  const auto b = matrix(b_rows, b_columns, b_columns + 2, 12);
  const auto before = matrix(m_size, n_size, c_stride, 13);
  auto c = before;
  const auto floats =
      static_cast<std::size_t>(cpu::gemm_row_major_scratch_floats(m_size, k_size, n_size));
  const std::unique_ptr<float, aligned_free> scratch(
      static_cast<float*>(::operator new (floats * sizeof(float), std::align_val_t{64})));
  cpu::gemm_row_major(m_size, k_size, n_size, alpha, {a.data(), a_columns + 1, transpose_a},
                      {b.data(), b_columns + 2, transpose_b}, c.data(), c_stride, accumulate,
                      scratch.get());
  double worst = 0;
  bool gaps_kept = true;
  for (int i = 0; i < m_size; ++i) {
    for (int j = 0; j < n_size; ++j) {
      double sum = 0;
      for (int k = 0; k < k_size; ++k) {
        const int at_a = transpose_a ? k * (a_columns + 1) + i : i * (a_columns + 1) + k;
        const int at_b = transpose_b ? j * (b_columns + 2) + k : k * (b_columns + 2) + j;
        sum += static_cast<double>(a[static_cast<std::size_t>(at_a)]) *
               b[static_cast<std::size_t>(at_b)];
      }
      const auto at = static_cast<std::size_t>(i * c_stride + j);
      const double expected = static_cast<double>(alpha) * sum + (accumulate ? before[at] : 0.0);
      const double off = std::abs(c[at] - expected);
      worst = larger(worst, off);
    }
    for (int j = n_size; j < c_stride && i + 1 < m_size; ++j) {
      gaps_kept = gaps_kept && std::isnan(c[static_cast<std::size_t>(i * c_stride + j)]);
    }
  }
  REQUIRE(worst <= 2 * tolerance(k_size));
  REQUIRE(gaps_kept);
}

}  // namespace

TEST_CASE("gemm_row_major: all transposes, plain and accumulated", "[gemm]") {
  for (int flags = 0; flags < 8; ++flags) {
    const bool a = (flags & 1) != 0;
    const bool b = (flags & 2) != 0;
    const bool accumulate = (flags & 4) != 0;
    for (int m_size : {1, 2, 6, 13, 40}) {
      for (int k_size : {1, 8, 19, 64}) {
        for (int n_size : {1, 7, 16, 33, 64}) check(m_size, k_size, n_size, a, b, accumulate, 0.5F);
      }
    }
    check(64, 1024, 65, a, b, accumulate, 1.F);
    check(30, 1100, 20, a, b, accumulate, -2.F);
  }
}
