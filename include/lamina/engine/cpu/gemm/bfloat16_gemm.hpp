// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/gemm/bfloat16_gemm.hpp - the matrix product with weights that are stored as
// bfloat16. It reads half as many bytes as the product with floats; the sums are in float.
//
// Each 32-bit word of a panel holds elements of two rows: row 2p in the lower half, row 2p + 1 in
// the upper half. If the number of rows is odd, a row of zeros is added. So panels of K rows have
// the size of panels of floats with (K + 1) / 2 rows. A shift or a mask of a word extracts an
// element as a float. A word is also the pair of numbers that the AVX-512 dot product instruction
// for bfloat16 expects.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include <lamina/core/numbers/bfloat16.hpp>
#include <lamina/engine/cpu/gemm/gemm_block.hpp>
#include <lamina/engine/cpu/gemm/micro_kernel.hpp>

#if defined(__AVX512BF16__)
#include <immintrin.h>  // core/simd/intrinsics.hpp does not include bfloat16
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// The size of the bfloat16 panels of W[k_size][n_size], in floats.
constexpr std::ptrdiff_t bfloat16_panels_floats(int k_size, int n_size) {
  return panels_floats((k_size + 1) / 2, n_size);
}

namespace detail {

// Rounds the columns of W[k_size][n_size] from column `first` on into the bfloat16 panel that
// begins at this column. `from` is the address of element (0, first); the rows of W are `stride`
// floats apart.
LAMINA_API_COLD void pack_bfloat16_panel(int k_size, int n_size, int first, const float* from,
                                         std::ptrdiff_t stride, float* panels);

#if LAMINA_DEFINES

void pack_bfloat16_panel(int k_size, int n_size, int first, const float* from,
                         std::ptrdiff_t stride, float* panels) {
  const int width = width_of_panel(n_size, first);
  float* to = panels + offset_of_panel((k_size + 1) / 2, first);
  for (int k = 0; k < k_size; k += 2, to += width, from += 2 * stride)
    for (int j = 0; j < width; ++j) {
      const bool real = first + j < n_size;
      const std::uint32_t lower = real ? bfloat16_bits(from[j]) : 0;
      const std::uint32_t upper = real && k + 1 < k_size ? bfloat16_bits(from[stride + j]) : 0;
      to[j] = std::bit_cast<float>(lower | upper << 16);
    }
}

#endif  // LAMINA_DEFINES

}  // namespace detail

/// Rounds a row-major matrix, whose rows are `stride` floats apart, into bfloat16 panels and sets
/// their padding to 0.
LAMINA_API_COLD void pack_bfloat16(int k_size, int n_size, const float* row_major,
                                   std::ptrdiff_t stride, float* panels);

/// Rounds panels of floats into bfloat16 panels.
LAMINA_API_COLD void pack_bfloat16_panels(int k_size, int n_size, const float* of_floats,
                                          float* panels);

namespace detail {

/// A vector of 32-bit words that has the size of a vector of floats.
using word_vector = std::uint32_t __attribute__((vector_size(sizeof(vector))));

LAMINA_INLINE word_vector load_words(const float* from) {
  word_vector words;
  std::memcpy(&words, from, sizeof(words));
  return words;
}
/// Returns one row of a pair of rows as floats: Half = 0 is the row in the lower halves of the
/// words, Half = 1 the row in the upper halves.
template <int Half>
LAMINA_INLINE vector row_of_pair(word_vector words) {
  const word_vector bits = Half == 0 ? words << 16 : words & 0xffff0000U;
  vector row;
  std::memcpy(&row.data, &bits, sizeof(bits));
  return row;
}

#if defined(__AVX512BF16__)
inline constexpr bool has_pair_products = lanes == 16;
#else
inline constexpr bool has_pair_products = false;
#endif

/// A float as the sum of two bfloat16 numbers, with a relative error of at most 2^-17. For infinity
/// and NaN `low` is 0.
struct split_number {
  std::uint16_t high, low;
};
constexpr split_number split(float x) {
  const std::uint16_t high = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16);
  const float rest = x - float_of_bfloat16(high);
  if (!(rest - rest == 0.F)) return {bfloat16_bits(x), 0};
  return {high, bfloat16_bits(rest)};
}

/// The size in floats of one row of the left operand after split_rows(): the pairs of `high` parts,
/// then the pairs of `low` parts.
constexpr std::ptrdiff_t split_row_floats(int k_size) { return 2 * padded((k_size + 1) / 2); }

inline void split_rows(int rows, int k_size, const float* from, std::ptrdiff_t stride, float* to) {
  const int pairs = (k_size + 1) / 2, low_parts = padded(pairs);
  for (int i = 0; i < rows; ++i, from += stride, to += split_row_floats(k_size))
    for (int p = 0; p < pairs; ++p) {
      const split_number a = split(from[2 * p]);
      const split_number b = 2 * p + 1 < k_size ? split(from[2 * p + 1]) : split_number{0, 0};
      to[p] = std::bit_cast<float>(static_cast<std::uint32_t>(b.high) << 16 | a.high);
      to[low_parts + p] = std::bit_cast<float>(static_cast<std::uint32_t>(b.low) << 16 | a.low);
    }
}

/// Adds to each lane of `sums` the dot product of two pairs of bfloat16 numbers. One pair is the
/// word in the same lane of `words`, the other is `left`, a pair of the left operand.
LAMINA_INLINE vector add_pair_products([[maybe_unused]] float left,
                                       [[maybe_unused]] word_vector words, vector sums) {
#if defined(__AVX512BF16__)
  const word_vector pair = word_vector{} + std::bit_cast<std::uint32_t>(left);
  return vector(
      _mm512_dpbf16_ps(sums, reinterpret_cast<__m512bh>(pair), reinterpret_cast<__m512bh>(words)));
#else
  return sums;
#endif
}

/// Computes the sums of a tile over `depth` rows of a bfloat16 panel.
template <int Rows, int Vectors>
LAMINA_NOINLINE void multiply_bfloat16_tile(int depth, const left_operand& operand,
                                            const float* panel, float* sums) {
  const left_operand left = operand;
  constexpr int count = chains(Rows * Vectors);
  constexpr int width = Vectors * lanes;
  vector acc[bound(count)][bound(Rows)][bound(Vectors)];
  LAMINA_UNROLL for (int c = 0; c < count; ++c) {
    LAMINA_UNROLL for (int i = 0; i < Rows; ++i) {
      LAMINA_UNROLL for (int j = 0; j < Vectors; ++j) acc[c][i][j] = vector(0.F);
    }
  }
  constexpr int bases = (Rows + 2) / 3;
  const float* base[bound(bases)];
  LAMINA_UNROLL for (int i = 0; i < bases; ++i) base[i] = left.data + 3 * i * left.row;
  const auto next_pair = [&](int step) __attribute__((always_inline)) {
    panel += width;
    LAMINA_UNROLL for (int i = 0; i < bases; ++i) base[i] += step;
  };
  // The words are loaded again for the second row of each pair, because keeping them would take
  // registers that the sums need.
  const auto add_row = [&]<int Half>(auto& chain, std::integral_constant<int, Half>)
      __attribute__((always_inline)) {
    vector b[bound(Vectors)];
    LAMINA_UNROLL for (int j = 0; j < Vectors; ++j) {
      b[j] = row_of_pair<Half>(load_words(panel + j * lanes));
      hold_in_register(b[j]);
    }
    LAMINA_UNROLL for (int i = 0; i < Rows; ++i) {
      const vector a(base[i / 3][(i % 3) * left.row + Half]);
      LAMINA_UNROLL for (int j = 0; j < Vectors; ++j) {
        chain[i][j] = fused_multiply_add(a, b[j], chain[i][j]);
      }
    }
  };
  const auto add_products = [&](auto& chain, std::ptrdiff_t part) __attribute__((always_inline)) {
    LAMINA_UNROLL for (int i = 0; i < Rows; ++i) {
      const float a = base[i / 3][(i % 3) * left.row + part];
      LAMINA_UNROLL for (int j = 0; j < Vectors; ++j) {
        chain[i][j] = add_pair_products(a, load_words(panel + j * lanes), chain[i][j]);
      }
    }
  };
  constexpr int lower = 0, upper = count > 1 ? 1 : 0, together = (count + 1) / 2;
  const auto add_pair = [&](auto& first, auto& second) __attribute__((always_inline)) {
    if constexpr (has_pair_products) {
      add_products(first, 0);
      add_products(second, left.step);
      next_pair(1);
    } else {
      add_row(first, std::integral_constant<int, 0>{});
      add_row(second, std::integral_constant<int, 1>{});
      next_pair(2);
    }
  };
  const int pairs = has_pair_products ? (depth + 1) / 2 : depth / 2;
  int p = 0;
  for (; p + together <= pairs; p += together) {
    LAMINA_UNROLL for (int c = 0; c < together; ++c) {
      add_pair(acc[2 * c + lower], acc[2 * c + upper]);
    }
  }
  for (; p < pairs; ++p) add_pair(acc[lower], acc[upper]);
  if constexpr (!has_pair_products) {
    if (2 * pairs < depth) add_row(acc[0], std::integral_constant<int, 0>{});
  }
  LAMINA_UNROLL for (int i = 0; i < Rows; ++i) {
    LAMINA_UNROLL for (int j = 0; j < Vectors; ++j) {
      vector sum = acc[0][i][j];
      LAMINA_UNROLL for (int c = 1; c < count; ++c) sum += acc[c][i][j];
      sum.store_aligned(sums + i * width + j * lanes);
    }
  }
}

using bfloat16_kernel = void (*)(int depth, const left_operand& left, const float* panel,
                                 float* sums);
template <int Vectors, class Rows>
struct bfloat16_kernels;
template <int Vectors, int... Index>
struct bfloat16_kernels<Vectors, std::integer_sequence<int, Index...>> {
  static constexpr bfloat16_kernel table[] = {&multiply_bfloat16_tile<Index + 1, Vectors>...};
};

inline bfloat16_kernel find_bfloat16_kernel(int rows, int width) {
  using row_counts = std::make_integer_sequence<int, tile_rows>;
  if (width == panel_width) return bfloat16_kernels<tile_vectors, row_counts>::table[rows - 1];
  return bfloat16_kernels<narrow_width / lanes, row_counts>::table[rows - 1];
}

// Returns the left operand in the form that the kernels read: unchanged, or, with the dot product
// instruction, split into pairs that are stored in `scratch`.
inline left_operand bfloat16_left(int rows, int k_size, const float* a, std::ptrdiff_t a_stride,
                                  [[maybe_unused]] float* scratch) {
  if constexpr (!has_pair_products) return {a, a_stride, 1};
  split_rows(rows, k_size, a, a_stride, scratch);
  return {scratch, split_row_floats(k_size), padded((k_size + 1) / 2)};
}

// Divides the rows of the left operand into blocks so small that a block stays in the second-level
// cache while the product reads all panels.
constexpr even_parts bfloat16_row_parts(int m_size, int k_size) {
  return {m_size, resident_rows(k_size)};
}

}  // namespace detail

/// The size in floats of the scratch memory for `gemm_bfloat16` with these sizes, or with fewer
/// rows.
constexpr std::ptrdiff_t gemm_bfloat16_scratch_floats(int m_size, int k_size) {
  if (!detail::has_pair_products) return 0;
  return (std::min)(m_size, resident_rows(k_size)) * detail::split_row_floats(k_size);
}

/// Computes the product of `gemm` (gemm.hpp) with weights in bfloat16 panels. It multiplies the
/// rounded weights and adds the products in float. With AVX-512 BF16, it uses dot product
/// instructions: it splits each element of A into the sum of two bfloat16 numbers, with a relative
/// error of at most 2^-17. The weights must then be finite, because an infinite weight times a part
/// that is 0 gives NaN. `scratch` holds `gemm_bfloat16_scratch_floats(M, K)` floats.
inline void gemm_bfloat16(int m_size, int k_size, int n_size, const float* a,
                          std::ptrdiff_t a_stride, const float* panels,
                          std::ptrdiff_t product_stride, epilogue run, const void* context,
                          float* scratch) {
  if (m_size <= 0) return;
  alignas(64) float sums[tile_rows * panel_width];
  const int pairs = (k_size + 1) / 2;
  const even_parts blocks = detail::bfloat16_row_parts(m_size, k_size);
  for (int b = 0; b < blocks.count(); ++b) {
    const left_operand left = detail::bfloat16_left(
        blocks.size(b), k_size, a + blocks.first(b) * a_stride, a_stride, scratch);
    const even_parts tiles(blocks.size(b), tile_rows);
    for (int column = 0; column < padded(n_size); column += panel_width) {
      const int width = width_of_panel(n_size, column);
      const float* const panel = panels + offset_of_panel(pairs, column);
      for (int t = 0; t < tiles.count(); ++t) {
        const int rows = tiles.size(t), row = blocks.first(b) + tiles.first(t);
        const left_operand of_tile{left.data + tiles.first(t) * left.row, left.row, left.step};
        detail::find_bfloat16_kernel(rows, width)(k_size, of_tile, panel, sums);
        run({sums, rows, width, row, column, row * product_stride + column, product_stride},
            context);
      }
    }
  }
}

#if LAMINA_DEFINES

void pack_bfloat16(int k_size, int n_size, const float* row_major, std::ptrdiff_t stride,
                   float* panels) {
  for (int first = 0; first < padded(n_size); first += panel_width)
    detail::pack_bfloat16_panel(k_size, n_size, first, row_major + first, stride, panels);
}

void pack_bfloat16_panels(int k_size, int n_size, const float* of_floats, float* panels) {
  for (int first = 0; first < padded(n_size); first += panel_width)
    detail::pack_bfloat16_panel(k_size, n_size, first, of_floats + offset_of_panel(k_size, first),
                                width_of_panel(n_size, first), panels);
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
