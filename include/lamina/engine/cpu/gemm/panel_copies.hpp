// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/gemm/panel_copies.hpp - copies row-major matrices to panels, and panels to
// row-major matrices.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstring>

// With LAMINA_COMPILED, another source file compiles the functions that use vectors, so this header
// does not include simd.hpp.
#if LAMINA_DEFINES
#include <lamina/engine/cpu/gemm/panel.hpp>
#include <lamina/engine/cpu/vector/simd.hpp>
#endif  // LAMINA_DEFINES

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

/// Copies `rows` x `count` floats between row-major blocks.
template <class Real>
inline void copy_rows(int rows, int count, const Real* from, std::ptrdiff_t from_stride, Real* to,
                      std::ptrdiff_t to_stride) {
  for (int i = 0; i < rows; ++i) {
    std::memcpy(to + i * to_stride, from + i * from_stride,
                static_cast<std::size_t>(count) * sizeof(Real));
  }
}

/// Copies `rows` x `count` numbers between row-major blocks, and writes zeros from column `count`
/// to before column `width`, a multiple of `lanes`.
template <class Real>
LAMINA_KERNEL void copy_rows_padded(int rows, int count, int width, const Real* from,
                                    std::ptrdiff_t from_stride, Real* to, std::ptrdiff_t to_stride);

#if LAMINA_DEFINES

template <class Real>
void copy_rows_padded(int rows, int count, int width, const Real* from, std::ptrdiff_t from_stride,
                      Real* to, std::ptrdiff_t to_stride) {
  using vector = vector_in<Real>;
  constexpr int lanes = lanes_in<Real>;
  const int whole = count - count % lanes;
  for (int i = 0; i < rows; ++i, from += from_stride, to += to_stride) {
    for (int j = 0; j < whole; j += lanes) vector::load_unaligned(from + j).store_unaligned(to + j);
    for (int j = whole; j < width; j += lanes) vector(Real(0)).store_unaligned(to + j);
    for (int j = whole; j < count; ++j) to[j] = from[j];
  }
}
LAMINA_INSTANCE(void copy_rows_padded<float>(int, int, int, const float*, std::ptrdiff_t, float*,
                                             std::ptrdiff_t))
LAMINA_INSTANCE(void copy_rows_padded<double>(int, int, int, const double*, std::ptrdiff_t, double*,
                                              std::ptrdiff_t))

#endif  // LAMINA_DEFINES

}  // namespace detail

/// Packs `rows` rows of a row-major matrix, `stride` numbers apart, into the panels of a matrix of
/// `k_size` rows; `first_row` is the row of the panels at which the first of them is stored. Sets
/// the padding to 0. Reads exactly `n_size` numbers of each row.
template <class Real>
LAMINA_NOINLINE void pack_rows(int first_row, int rows, int k_size, int n_size,
                               const Real* row_major, std::ptrdiff_t stride, Real* panels);

/// Packs a matrix of `k_size` rows, `stride` floats apart.
template <class Real>
LAMINA_KERNEL void pack(int k_size, int n_size, const Real* row_major, std::ptrdiff_t stride,
                        Real* panels);

/// Packs a contiguous row-major matrix into panels.
template <class Real>
LAMINA_KERNEL void pack(int k_size, int n_size, const Real* row_major, Real* panels);

/// The inverse of `pack`: copies panels to a contiguous row-major matrix.
template <class Real>
LAMINA_KERNEL void unpack(int k_size, int n_size, const Real* panels, Real* row_major);

#if LAMINA_DEFINES

template <class Real>
void pack_rows(int first_row, int rows, int k_size, int n_size, const Real* row_major,
               std::ptrdiff_t stride, Real* panels) {
  constexpr int full_width = panel_width_in<Real>;
  // Packs eight rows at a time, so that each row is read sequentially and eight adjacent rows of a
  // panel are written together.
  constexpr int together = 8;
  const int columns = padded(n_size);
  for (int k = 0; k < rows; k += together) {
    const int count = rows - k < together ? rows - k : together;
    for (int first = 0; first < columns; first += full_width) {
      const int width = width_of_panel<Real>(n_size, first);
      const Real* from = row_major + k * stride + first;
      Real* to = panels + offset_of_panel(k_size, first) +
                 static_cast<std::ptrdiff_t>(first_row + k) * width;
      if (first + full_width <= n_size) {
        for (int i = 0; i < count; ++i, from += stride, to += full_width) {
          LAMINA_UNROLL for (int j = 0; j < full_width; j += lanes_in<Real>) {
            vector_in<Real>::load_unaligned(from + j).store_unaligned(to + j);
          }
        }
      } else {
        const int rest = n_size > first ? n_size - first : 0;
        detail::copy_rows_padded(count, rest < width ? rest : width, width, from, stride, to,
                                 width);
      }
    }
  }
}
LAMINA_INSTANCE(void pack_rows<float>(int, int, int, int, const float*, std::ptrdiff_t, float*))
LAMINA_INSTANCE(void pack_rows<double>(int, int, int, int, const double*, std::ptrdiff_t, double*))

template <class Real>
void pack(int k_size, int n_size, const Real* row_major, std::ptrdiff_t stride, Real* panels) {
  pack_rows(0, k_size, k_size, n_size, row_major, stride, panels);
}
LAMINA_INSTANCE(void pack<float>(int, int, const float*, std::ptrdiff_t, float*))
LAMINA_INSTANCE(void pack<double>(int, int, const double*, std::ptrdiff_t, double*))

template <class Real>
void pack(int k_size, int n_size, const Real* row_major, Real* panels) {
  pack(k_size, n_size, row_major, n_size, panels);
}
LAMINA_INSTANCE(void pack<float>(int, int, const float*, float*))
LAMINA_INSTANCE(void pack<double>(int, int, const double*, double*))

template <class Real>
void unpack(int k_size, int n_size, const Real* panels, Real* row_major) {
  for_each_row_segment<Real>(k_size, n_size, [&](std::ptrdiff_t offset, int count, int k, int n) {
    std::memcpy(row_major + static_cast<std::ptrdiff_t>(k) * n_size + n, panels + offset,
                static_cast<std::size_t>(count) * sizeof(Real));
  });
}
LAMINA_INSTANCE(void unpack<float>(int, int, const float*, float*))
LAMINA_INSTANCE(void unpack<double>(int, int, const double*, double*))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
