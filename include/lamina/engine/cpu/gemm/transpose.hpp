// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/gemm/transpose.hpp - transposes of row-major blocks and of weight panels, in
// vector registers.
#pragma once

#include <lamina/core/config.hpp>

#include <type_traits>

#include <lamina/core/simd/intrinsics.hpp>
#include <lamina/engine/cpu/gemm/panel.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

// transpose_square() transposes a square of lanes x lanes floats: to[j][i] = from[i][j]. The rows
// of `from` and `to` need no alignment.
#if defined(__AVX512F__)
// Calls store(j, column j) for the columns of 16 rows.
template <class Store>
LAMINA_INLINE void transpose_registers(__m512 (&rows)[16], Store store) {
  // The instructions are masked, with all lanes set, which costs no time. The intrinsics without a
  // mask contain an undefined vector, for which g++ 12 prints a warning.
  constexpr __mmask16 all = 0xffff;
  __m512 pairs[16];
  LAMINA_UNROLL for (int i = 0; i < 16; i += 2) {
    pairs[i] = _mm512_maskz_unpacklo_ps(all, rows[i], rows[i + 1]);
    pairs[i + 1] = _mm512_maskz_unpackhi_ps(all, rows[i], rows[i + 1]);
  }
  // After this step each 128-bit quarter of rows[4 i + c] holds column 4 q + c of the four rows 4 i
  // to 4 i + 3.
  LAMINA_UNROLL for (int i = 0; i < 16; i += 4) {
    rows[i] = _mm512_maskz_shuffle_ps(all, pairs[i], pairs[i + 2], 0x44);
    rows[i + 1] = _mm512_maskz_shuffle_ps(all, pairs[i], pairs[i + 2], 0xee);
    rows[i + 2] = _mm512_maskz_shuffle_ps(all, pairs[i + 1], pairs[i + 3], 0x44);
    rows[i + 3] = _mm512_maskz_shuffle_ps(all, pairs[i + 1], pairs[i + 3], 0xee);
  }
  // The remaining step is a 4 x 4 transpose of 128-bit quarters.
  LAMINA_UNROLL for (int c = 0; c < 4; ++c) {
    const __m512 low_even = _mm512_maskz_shuffle_f32x4(all, rows[c], rows[4 + c], 0x88);
    const __m512 low_odd = _mm512_maskz_shuffle_f32x4(all, rows[c], rows[4 + c], 0xdd);
    const __m512 high_even = _mm512_maskz_shuffle_f32x4(all, rows[8 + c], rows[12 + c], 0x88);
    const __m512 high_odd = _mm512_maskz_shuffle_f32x4(all, rows[8 + c], rows[12 + c], 0xdd);
    store(c, _mm512_maskz_shuffle_f32x4(all, low_even, high_even, 0x88));
    store(4 + c, _mm512_maskz_shuffle_f32x4(all, low_odd, high_odd, 0x88));
    store(8 + c, _mm512_maskz_shuffle_f32x4(all, low_even, high_even, 0xdd));
    store(12 + c, _mm512_maskz_shuffle_f32x4(all, low_odd, high_odd, 0xdd));
  }
}
inline void transpose_square(const float* from, std::ptrdiff_t from_stride, float* to,
                             std::ptrdiff_t to_stride) {
  __m512 rows[16];
  LAMINA_UNROLL for (int i = 0; i < 16; ++i) rows[i] = _mm512_loadu_ps(from + i * from_stride);
  transpose_registers(
      rows, [=](int j, __m512 column)
                __attribute__((always_inline)) { _mm512_storeu_ps(to + j * to_stride, column); });
}
#elif defined(__AVX__)
inline void transpose_square(const float* from, std::ptrdiff_t from_stride, float* to,
                             std::ptrdiff_t to_stride) {
  __m256 rows[8];
  // A register holds four columns of row i and the same columns of row i + 4, so that all later
  // shuffles stay within 128 bits.
  LAMINA_UNROLL for (int i = 0; i < 4; ++i) {
    const float* upper = from + i * from_stride;
    const float* lower = upper + 4 * from_stride;
    rows[i] =
        _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(upper)), _mm_loadu_ps(lower), 1);
    rows[4 + i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(upper + 4)),
                                       _mm_loadu_ps(lower + 4), 1);
  }
  LAMINA_UNROLL for (int h = 0; h < 8; h += 4) {
    const __m256 low_01 = _mm256_unpacklo_ps(rows[h], rows[h + 1]);
    const __m256 high_01 = _mm256_unpackhi_ps(rows[h], rows[h + 1]);
    const __m256 low_23 = _mm256_unpacklo_ps(rows[h + 2], rows[h + 3]);
    const __m256 high_23 = _mm256_unpackhi_ps(rows[h + 2], rows[h + 3]);
    _mm256_storeu_ps(to + h * to_stride, _mm256_shuffle_ps(low_01, low_23, 0x44));
    _mm256_storeu_ps(to + (h + 1) * to_stride, _mm256_shuffle_ps(low_01, low_23, 0xee));
    _mm256_storeu_ps(to + (h + 2) * to_stride, _mm256_shuffle_ps(high_01, high_23, 0x44));
    _mm256_storeu_ps(to + (h + 3) * to_stride, _mm256_shuffle_ps(high_01, high_23, 0xee));
  }
}
#elif defined(__SSE__)
inline void transpose_square(const float* from, std::ptrdiff_t from_stride, float* to,
                             std::ptrdiff_t to_stride) {
  __m128 row_0 = _mm_loadu_ps(from);
  __m128 row_1 = _mm_loadu_ps(from + from_stride);
  __m128 row_2 = _mm_loadu_ps(from + 2 * from_stride);
  __m128 row_3 = _mm_loadu_ps(from + 3 * from_stride);
  _MM_TRANSPOSE4_PS(row_0, row_1, row_2, row_3);
  _mm_storeu_ps(to, row_0);
  _mm_storeu_ps(to + to_stride, row_1);
  _mm_storeu_ps(to + 2 * to_stride, row_2);
  _mm_storeu_ps(to + 3 * to_stride, row_3);
}
#else
inline void transpose_square(const float* from, std::ptrdiff_t from_stride, float* to,
                             std::ptrdiff_t to_stride) {
  for (int i = 0; i < lanes; ++i) {
    for (int j = 0; j < lanes; ++j) to[j * to_stride + i] = from[i * from_stride + j];
  }
}
#endif
// For squares of doubles, which few programs need, there is no hand-written code.
inline void transpose_square(const double* from, std::ptrdiff_t from_stride, double* to,
                             std::ptrdiff_t to_stride) {
  constexpr int lanes = lanes_in<double>;
  LAMINA_UNROLL for (int i = 0; i < lanes; ++i) {
    LAMINA_UNROLL for (int j = 0; j < lanes; ++j) to[j * to_stride + i] = from[i * from_stride + j];
  }
}

// Transposes a part of a square: to[j][i] = from[i][j] for i < rows and j < columns, and to[j][i] =
// 0 for rows <= i < written.
#if !LAMINA_DEFINES
LAMINA_NOINLINE void transpose_part(int rows, int columns, const float* from,
                                    std::ptrdiff_t from_stride, float* to, std::ptrdiff_t to_stride,
                                    int written);
#elif defined(__AVX512F__)
LAMINA_NOINLINE LAMINA_API void transpose_part(int rows, int columns, const float* from,
                                               std::ptrdiff_t from_stride, float* to,
                                               std::ptrdiff_t to_stride, int written) {
  const auto first_of = [](int n) { return static_cast<__mmask16>((1U << n) - 1U); };
  const __mmask16 read = first_of(columns), stored = first_of(written);
  __m512 row[16];
  // Rows from `rows` on are not loaded at all. A load with an empty mask would be correct, but at
  // an unmapped address it takes hundreds of cycles.
  LAMINA_UNROLL for (int i = 0; i < 16; ++i) {
    row[i] = i < rows ? _mm512_maskz_loadu_ps(read, from + i * from_stride) : _mm512_setzero_ps();
  }
  transpose_registers(
      row, [=](int j, __m512 column) __attribute__((always_inline)) {
        if (j < columns) _mm512_mask_storeu_ps(to + j * to_stride, stored, column);
      });
}
#else
LAMINA_NOINLINE LAMINA_API void transpose_part(int rows, int columns, const float* from,
                                               std::ptrdiff_t from_stride, float* to,
                                               std::ptrdiff_t to_stride, int written) {
  const auto copy = [](int count, int n, const float* source, std::ptrdiff_t source_stride,
                       float* target, std::ptrdiff_t target_stride) {
    for (int i = 0; i < count; ++i, source += source_stride, target += target_stride)
      if (n == lanes)
        vector::load_unaligned(source).store_unaligned(target);
      else
        for (int j = 0; j < n; ++j) target[j] = source[j];
  };
  alignas(64) float square[lanes * lanes] = {};
  alignas(64) float turned[lanes * lanes];
  copy(rows, columns, from, from_stride, square, lanes);
  if (columns == lanes && written == lanes) return transpose_square(square, lanes, to, to_stride);
  transpose_square(square, lanes, turned, lanes);
  copy(columns, written, turned, lanes, to, to_stride);
}
#endif

}  // namespace detail

/// to[j][i] = from[i][j] for 0 <= i < rows and 0 <= j < columns, where both blocks are row-major
/// with their own stride. The blocks must not overlap. Nothing outside of the blocks is read or
/// written.
template <class Real>
LAMINA_KERNEL void transpose(int rows, int columns, const Real* from, std::ptrdiff_t from_stride,
                             Real* to, std::ptrdiff_t to_stride);

/// Packs the transpose of a row-major matrix B[n_size][k_size] (rows `stride` floats apart) as
/// W[k][n] = B[n][k] into panels; the padding becomes 0.
template <class Real>
LAMINA_KERNEL void pack_transposed(int k_size, int n_size, const Real* row_major,
                                   std::ptrdiff_t stride, Real* panels);

namespace detail {

// Transposes a square part of a panel. All offsets of addresses are constants, so it takes half of
// the time of transpose().
template <class Real>
LAMINA_NOINLINE void transpose_panel_square(const Real* from, Real* to);

#if LAMINA_DEFINES

template <class Real>
void transpose_panel_square(const Real* from, Real* to) {
  constexpr int lanes = lanes_in<Real>;
  constexpr int panel_width = panel_width_in<Real>;
  for (int i = 0; i < panel_width; i += lanes) {
    LAMINA_UNROLL for (int j = 0; j < panel_width; j += lanes) {
      transpose_square(from + i * panel_width + j, panel_width, to + j * panel_width + i,
                       panel_width);
    }
  }
}
LAMINA_INSTANCE(void transpose_panel_square<float>(const float*, float*))
LAMINA_INSTANCE(void transpose_panel_square<double>(const double*, double*))

#endif  // LAMINA_DEFINES

}  // namespace detail

/// Makes a part of one panel of W^T[n_size][k_size] from the panels of W[k_size][n_size]: rows n to
/// n + count - 1 of the panel that starts at column `first`. Writes `count` rows of the panel's
/// width to `strip`; the padding becomes 0.
template <class Real>
LAMINA_KERNEL void transpose_strip(int k_size, int n_size, int first, int n, int count,
                                   const Real* panels, Real* strip);

/// Makes the panels of W^T[n_size][k_size] from the panels of W[k_size][n_size]. Writes n_size *
/// padded(k_size) numbers; the padding becomes 0.
template <class Real>
LAMINA_KERNEL void transpose_panels(int k_size, int n_size, const Real* panels, Real* transposed);

#if LAMINA_DEFINES

template <class Real>
void transpose(int rows, int columns, const Real* from, std::ptrdiff_t from_stride, Real* to,
               std::ptrdiff_t to_stride) {
  constexpr int side = lanes_in<Real>;
  const int whole_rows = rows - rows % side;
  const int whole_columns = columns - columns % side;
  for (int i = 0; i < whole_rows; i += side) {
    for (int j = 0; j < whole_columns; j += side) {
      detail::transpose_square(from + i * from_stride + j, from_stride, to + j * to_stride + i,
                               to_stride);
    }
  }
  if (whole_rows == rows && whole_columns == columns) return;
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<Real, float>) {
    for (int i = 0; i < rows; i += side) {
      const int count = rows - i < side ? rows - i : side;
      for (int j = i < whole_rows ? whole_columns : 0; j < columns; j += side)
        detail::transpose_part(count, columns - j < side ? columns - j : side,
                               from + i * from_stride + j, from_stride, to + j * to_stride + i,
                               to_stride, count);
    }
    return;
  }
#endif
  for (int i = 0; i < rows; ++i) {
    const int first = i < whole_rows ? whole_columns : 0;
    for (int j = first; j < columns; ++j) to[j * to_stride + i] = from[i * from_stride + j];
  }
}
LAMINA_INSTANCE(void transpose<float>(int, int, const float*, std::ptrdiff_t, float*,
                                      std::ptrdiff_t))
LAMINA_INSTANCE(void transpose<double>(int, int, const double*, std::ptrdiff_t, double*,
                                       std::ptrdiff_t))

template <class Real>
void pack_transposed(int k_size, int n_size, const Real* row_major, std::ptrdiff_t stride,
                     Real* panels) {
  constexpr int full_width = panel_width_in<Real>;
  for (int first = 0; first < padded(n_size); first += full_width) {
    const int width = width_of_panel<Real>(n_size, first);
    const int rest = n_size > first ? n_size - first : 0;
    const int real = rest < width ? rest : width;
    Real* panel = panels + offset_of_panel(k_size, first);
    if (real > 0) transpose(real, k_size, row_major + first * stride, stride, panel, width);
    if (real == width) continue;
    for (int k = 0; k < k_size; ++k) {
      for (int j = real; j < width; ++j)
        panel[static_cast<std::ptrdiff_t>(k) * width + j] = Real(0);
    }
  }
}
LAMINA_INSTANCE(void pack_transposed<float>(int, int, const float*, std::ptrdiff_t, float*))
LAMINA_INSTANCE(void pack_transposed<double>(int, int, const double*, std::ptrdiff_t, double*))

template <class Real>
void transpose_strip(int k_size, int n_size, int first, int n, int count, const Real* panels,
                     Real* strip) {
  constexpr int full_width = panel_width_in<Real>;
  const int to_width = width_of_panel<Real>(k_size, first);
  const int rest = k_size > first ? k_size - first : 0;
  const int rows = rest < to_width ? rest : to_width;
  Real* to = strip;
  for (const int end = n + count; n < end;) {
    const int panel = n / full_width * full_width;
    const int from_width = width_of_panel<Real>(n_size, panel);
    const int next = panel + from_width < end ? panel + from_width : end;
    const Real* from = panels + offset_of_panel(k_size, panel) +
                       static_cast<std::ptrdiff_t>(first) * from_width + (n - panel);
    // The hardware prefetcher does not load the next panel, because it is too far away.
    if (next < end) {
      const Real* later = from + static_cast<std::ptrdiff_t>(k_size) * full_width;
      for (int i = 0; i < rows; ++i) __builtin_prefetch(later + i * full_width);
    }
    if (rows == full_width && next - n == full_width) {
      detail::transpose_panel_square(from, to);
    } else {
      transpose(rows, next - n, from, from_width, to, to_width);
    }
    to += static_cast<std::ptrdiff_t>(next - n) * to_width;
    n = next;
  }
  if (rows == to_width) return;
  for (int i = 0; i < count; ++i)
    for (int j = rows; j < to_width; ++j)
      strip[static_cast<std::ptrdiff_t>(i) * to_width + j] = Real(0);
}
LAMINA_INSTANCE(void transpose_strip<float>(int, int, int, int, int, const float*, float*))
LAMINA_INSTANCE(void transpose_strip<double>(int, int, int, int, int, const double*, double*))

template <class Real>
void transpose_panels(int k_size, int n_size, const Real* panels, Real* transposed) {
  constexpr int full_width = panel_width_in<Real>;
  for (int first = 0; first < padded(k_size); first += full_width)
    transpose_strip(k_size, n_size, first, 0, n_size, panels,
                    transposed + offset_of_panel(n_size, first));
}
LAMINA_INSTANCE(void transpose_panels<float>(int, int, const float*, float*))
LAMINA_INSTANCE(void transpose_panels<double>(int, int, const double*, double*))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
