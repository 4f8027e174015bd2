// SPDX-License-Identifier: Apache-2.0
// test/engine/cpu/gemm/gemm_check.hpp - matrices with guards, and products in double to compare
// with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/cpu/gemm/bfloat16_gemm.hpp>
#include <lamina/engine/cpu/gemm/gemm.hpp>

namespace gemm_check {

namespace cpu = lamina::engine::cpu;
using lamina::padded;

template <class Real>
constexpr Real not_written = Real(1e30);

// Numbers aligned to 64 bytes, of exactly this size, so that a sanitizer sees every step outside.
template <class Real>
class basic_buffer {
 public:
  explicit basic_buffer(std::ptrdiff_t n, Real value = 0)
      : size_(n),
        data_(static_cast<Real*>(
            ::operator new (static_cast<std::size_t>(n) * sizeof(Real), std::align_val_t{64}))) {
    for (std::ptrdiff_t i = 0; i < n; ++i) data_[i] = value;
  }
  basic_buffer(const basic_buffer&) = delete;
  basic_buffer& operator=(const basic_buffer&) = delete;
  ~basic_buffer() { ::operator delete (data_, std::align_val_t{64}); }

  Real* data() { return data_; }
  Real& operator[](std::ptrdiff_t i) { return data_[i]; }
  std::ptrdiff_t size() const { return size_; }

  void fill_random(unsigned seed) {
    for (std::ptrdiff_t i = 0; i < size_; ++i) {
      seed = seed * 1664525U + 1013904223U;
      data_[i] = static_cast<Real>(seed >> 8) / Real(8388608) - Real(1);
      if constexpr (sizeof(Real) > 4) {
        seed = seed * 1664525U + 1013904223U;
        data_[i] += static_cast<Real>(seed >> 8) * Real(0x1p-50);
      }
    }
  }

 private:
  std::ptrdiff_t size_;
  Real* data_;
};

using buffer = basic_buffer<float>;

// The larger of two errors; one that is not a number is larger than all.
inline double larger(double worst, long double exact_off) {
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

template <class Real>
struct tile_log {
  int columns;
  int rows;
  std::vector<int>* visits;
  Real* product;

  static void run(const cpu::basic_tile<Real>& t, const void* context) {
    const tile_log& log = *static_cast<const tile_log*>(context);
    REQUIRE(t.rows >= 1);
    REQUIRE(t.rows <= cpu::tile_rows);
    REQUIRE(t.row + t.rows <= log.rows);
    REQUIRE(t.column + t.width <= log.columns);
    for (int i = 0; i < t.rows; ++i) {
      for (int j = 0; j < t.width; ++j) {
        ++(*log.visits)[static_cast<std::size_t>((t.row + i) * log.columns + t.column + j)];
      }
    }
    cpu::store_tile(t, log.product);
  }
};

inline bool once_each(const std::vector<int>& visits) {
  for (int v : visits) {
    if (v != 1) return false;
  }
  return true;
}

// Y = A W with A's rows further apart than K and its gaps not a number; W in panels of floats, or
// rounded into those of bfloat16.
enum class weights { float32, bfloat16 };

template <class Real>
void check_forward(int m_size, int k_size, int n_size, int a_stride,
                   weights stored = weights::float32) {
  const bool narrow = stored == weights::bfloat16;
  INFO("forward M " << m_size << " K " << k_size << " N " << n_size << " stride " << a_stride);
  basic_buffer<Real> a(static_cast<std::ptrdiff_t>(m_size - 1) * a_stride + k_size);
  basic_buffer<Real> w(static_cast<std::ptrdiff_t>(k_size) * n_size);
  basic_buffer<Real> panels(narrow ? cpu::bfloat16_panels_floats(k_size, n_size)
                                   : cpu::panels_floats(k_size, n_size));
  a.fill_random(1);
  w.fill_random(2);
  for (int i = 0; i + 1 < m_size; ++i) {
    for (int k = k_size; k < a_stride; ++k) {
      a[static_cast<std::ptrdiff_t>(i) * a_stride + k] = std::numeric_limits<Real>::quiet_NaN();
    }
  }
  if constexpr (std::is_same_v<Real, float>) {
    if (narrow) {
      cpu::pack_bfloat16(k_size, n_size, w.data(), n_size, panels.data());
      for (std::ptrdiff_t i = 0; i < w.size(); ++i) w[i] = lamina::rounded_to_bfloat16(w[i]);
    }
  }
  if (!narrow) cpu::pack(k_size, n_size, w.data(), panels.data());
  const int columns = padded(n_size);
  const int stride = columns + 16;
  basic_buffer<Real> y(static_cast<std::ptrdiff_t>(m_size) * stride, not_written<Real>);
  basic_buffer<Real> scratch(narrow ? cpu::gemm_bfloat16_scratch_floats(m_size, k_size)
                                    : cpu::gemm_scratch_floats<Real>(m_size, k_size, n_size));
  std::vector<int> visits(static_cast<std::size_t>(m_size) * static_cast<std::size_t>(columns), 0);
  const tile_log<Real> log{columns, m_size, &visits, y.data()};
  if constexpr (std::is_same_v<Real, float>)
    if (narrow)
      cpu::gemm_bfloat16(m_size, k_size, n_size, a.data(), a_stride, panels.data(), stride,
                         &tile_log<Real>::run, &log, scratch.data());
  if (!narrow)
    cpu::gemm(m_size, k_size, n_size, a.data(), a_stride, panels.data(), stride,
              &tile_log<Real>::run, &log, scratch.data());
  REQUIRE(once_each(visits));
  if (!narrow) {
    basic_buffer<Real> backward(y.size(), not_written<Real>);
    std::fill(visits.begin(), visits.end(), 0);
    const tile_log<Real> log_of_backward{columns, m_size, &visits, backward.data()};
    cpu::gemm(m_size, k_size, n_size, a.data(), a_stride, panels.data(), stride,
              &tile_log<Real>::run, &log_of_backward, scratch.data(), cpu::panel_order::descending);
    REQUIRE(once_each(visits));
    const auto bytes = static_cast<std::size_t>(y.size()) * sizeof(Real);
    REQUIRE(std::memcmp(y.data(), backward.data(), bytes) == 0);
  }
  double worst = 0;
  bool padding_kept = true;
  std::vector<long double> expected(static_cast<std::size_t>(n_size));
  for (int i = 0; i < m_size; ++i) {
    expected.assign(expected.size(), 0);
    for (int k = 0; k < k_size; ++k) {
      const long double left = a[static_cast<std::ptrdiff_t>(i) * a_stride + k];
      const Real* row = w.data() + static_cast<std::ptrdiff_t>(k) * n_size;
      for (int j = 0; j < n_size; ++j) expected[static_cast<std::size_t>(j)] += left * row[j];
    }
    const Real* found = y.data() + static_cast<std::ptrdiff_t>(i) * stride;
    for (int j = 0; j < n_size; ++j) {
      const long double off = std::abs(found[j] - expected[static_cast<std::size_t>(j)]);
      worst = larger(worst, off);
    }
    for (int j = n_size; j < columns; ++j) padding_kept = padding_kept && found[j] == Real(0);
    for (int j = columns; j < stride; ++j)
      padding_kept = padding_kept && found[j] == not_written<Real>;
  }
  // A machine that multiplies pairs of bfloat16 splits A, exact but for 2^-17 of each element.
  const bool splits = narrow && cpu::detail::has_pair_products;
  REQUIRE(worst <= tolerance<Real>(k_size) + (splits ? k_size * 0x1p-18 : 0));
  REQUIRE(padding_kept);
}

}  // namespace gemm_check
