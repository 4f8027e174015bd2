// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/vector/row_sums.hpp - accurate sums of the columns of a matrix. Each group of
// eight rows is added in the element type, and the sums of the groups are added in double.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstring>
#include <type_traits>

#include <lamina/engine/cpu/vector/simd.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu::detail {

// The number of columns that are summed together. It is small enough that their sums stay in the
// first-level cache, and large enough that several consecutive cache lines of each row are read.
inline constexpr int summed_columns = 256;

// sums[i] += v[i].
template <class Real>
LAMINA_INLINE void add_to_sums(double* sums, vector_in<Real> v) {
  constexpr int lanes = lanes_in<Real>;
  if constexpr (std::is_same_v<Real, float>) {
    using four_floats [[gnu::vector_size(16)]] = float;
    using four_doubles [[gnu::vector_size(32)]] = double;
    alignas(64) float part[bound(lanes)];
    v.store_aligned(part);
    LAMINA_UNROLL for (int i = 0; i < lanes; i += 4) {
      four_floats four;
      four_doubles sum;
      std::memcpy(&four, part + i, sizeof four);
      std::memcpy(&sum, sums + i, sizeof sum);
      sum += __builtin_convertvector(four, four_doubles);
      std::memcpy(sums + i, &sum, sizeof sum);
    }
  } else {
    (vector_in<Real>::load_unaligned(sums) + v).store_unaligned(sums);
  }
}

/// Adds to sums[j] the sum of column j over `rows` rows of x, for j < width; the rows are `stride`
/// numbers apart. Each group of eight rows is added in Real first, so a caller that splits the rows
/// at a multiple of 8 gets the same sums, bit for bit.
template <class Real>
LAMINA_NOINLINE void sum_rows(const Real* x, std::ptrdiff_t rows, std::ptrdiff_t stride, int width,
                              double* sums);

#if LAMINA_DEFINES

template <class Real>
void sum_rows(const Real* x, std::ptrdiff_t rows, std::ptrdiff_t stride, int width, double* sums) {
  using vector = vector_in<Real>;
  constexpr int lanes = lanes_in<Real>;
  constexpr int together = 8;
  std::ptrdiff_t m = 0;
  for (; m + together <= rows; m += together, x += together * stride) {
    int j = 0;
    for (; j + lanes <= width; j += lanes) {
      vector v[together];
      LAMINA_UNROLL for (int i = 0; i < together; ++i) v[i] =
          vector::load_unaligned(x + i * stride + j);
      add_to_sums<Real>(sums + j,
                        ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7])));
    }
    for (; j < width; ++j) {
      Real v[together];
      LAMINA_UNROLL for (int i = 0; i < together; ++i) v[i] = x[i * stride + j];
      sums[j] +=
          static_cast<double>(((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7])));
    }
  }
  for (; m < rows; ++m, x += stride) {
    int j = 0;
    for (; j + lanes <= width; j += lanes)
      add_to_sums<Real>(sums + j, vector::load_unaligned(x + j));
    for (; j < width; ++j) sums[j] += static_cast<double>(x[j]);
  }
}
LAMINA_INSTANCE(void sum_rows<float>(const float*, std::ptrdiff_t, std::ptrdiff_t, int, double*))
LAMINA_INSTANCE(void sum_rows<double>(const double*, std::ptrdiff_t, std::ptrdiff_t, int, double*))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu::detail
