// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/gemm/micro_kernel.hpp - kernels that compute one register tile of a matrix
// product. There is one function for each number of rows of a tile.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <utility>

#include <lamina/engine/cpu/vector/simd.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// The left operand of a product. Element (i, k) is `data[i * row + k * step]`. So a row-major
/// matrix is {data, stride, 1}, and its transpose is {data, 1, stride}.
template <class Real>
struct basic_left_operand {
  const Real* data;
  std::ptrdiff_t row;
  std::ptrdiff_t step;
};
using left_operand = basic_left_operand<float>;

/// sums[i][j] = initial[i][j] + sum over k < depth of left(i, k) * panel[k][j]. `panel`, `initial`
/// and `sums` are contiguous rows of the panel's width; `initial` and `sums` must be aligned to 64
/// bytes. If `initial` is nullptr, the sums start from 0; `initial` may equal `sums`. (`left` is
/// passed by reference. Passed by value, it would be written to the stack in narrow words and read
/// in wide ones, which stalls every call.)
template <class Real>
using basic_micro_kernel = void (*)(int depth, const basic_left_operand<Real>& left,
                                    const Real* panel, const Real* initial, Real* sums);
using micro_kernel = basic_micro_kernel<float>;

namespace detail {

// The number of chains of additions into which each sum is split. Two units for multiply-add, each
// with a latency of 4 cycles, are busy only with eight independent sums; a tile with fewer
// accumulators splits each sum into several.
constexpr int chains(int accumulators) { return accumulators >= 8 ? 1 : accumulators >= 4 ? 2 : 4; }

template <int Rows, int Vectors, class Real>
LAMINA_NOINLINE void multiply_tile(int depth, const basic_left_operand<Real>& operand,
                                   const Real* panel, const Real* initial, Real* sums) {
  const basic_left_operand<Real> left = operand;
  using vector = vector_in<Real>;
  constexpr int lanes = lanes_in<Real>;
  constexpr int count = chains(Rows * Vectors);
  constexpr int width = Vectors * lanes;
  vector acc[bound(count)][bound(Rows)][bound(Vectors)];
  LAMINA_UNROLL for (int c = 0; c < count; ++c) {
    LAMINA_UNROLL for (int i = 0; i < Rows; ++i) {
      LAMINA_UNROLL for (int j = 0; j < Vectors; ++j) acc[c][i][j] = vector(Real(0));
    }
  }
  if (initial != nullptr) {
    LAMINA_UNROLL for (int i = 0; i < Rows; ++i) {
      LAMINA_UNROLL for (int j = 0; j < Vectors; ++j) {
        acc[0][i][j] = vector::load_aligned(initial + i * width + j * lanes);
      }
    }
  }
  // There is one pointer per three rows, because an instruction can address base, base + row and
  // base + 2 * row.
  constexpr int bases = (Rows + 2) / 3;
  const Real* base[bound(bases)];
  LAMINA_UNROLL for (int i = 0; i < bases; ++i) base[i] = left.data + 3 * i * left.row;
  const auto advance = [&](auto& chain) __attribute__((always_inline)) {
    vector b[bound(Vectors)];
    LAMINA_UNROLL for (int j = 0; j < Vectors; ++j) {
      b[j] = vector::load_unaligned(panel + j * lanes);
      hold_in_register(b[j]);
    }
    LAMINA_UNROLL for (int i = 0; i < Rows; ++i) {
      const vector a(base[i / 3][(i % 3) * left.row]);
      LAMINA_UNROLL for (int j = 0; j < Vectors; ++j) {
        chain[i][j] = fused_multiply_add(a, b[j], chain[i][j]);
      }
    }
    panel += width;
    LAMINA_UNROLL for (int i = 0; i < bases; ++i) base[i] += left.step;
  };
  int k = 0;
  for (; k + count <= depth; k += count) {
    LAMINA_UNROLL for (int c = 0; c < count; ++c) advance(acc[c]);
  }
  if constexpr (count > 1) {
    for (; k < depth; ++k) advance(acc[0]);
    LAMINA_UNROLL for (int c = 1; c < count; ++c) {
      LAMINA_UNROLL for (int i = 0; i < Rows; ++i) {
        LAMINA_UNROLL for (int j = 0; j < Vectors; ++j) acc[0][i][j] += acc[c][i][j];
      }
    }
  }
  LAMINA_UNROLL for (int i = 0; i < Rows; ++i) {
    LAMINA_UNROLL for (int j = 0; j < Vectors; ++j) {
      acc[0][i][j].store_aligned(sums + i * width + j * lanes);
    }
  }
}

/// The number of panels by which a single row is multiplied at the same time.
inline constexpr int panels_of_one_row = 8 / tile_vectors;

/// Multiplies one row of the left operand by `depth` rows of several panels; two consecutive panels
/// begin `panel_step` numbers apart. The other parameters are those of `micro_kernel`. Each element
/// of the row is read once for all panels. Several panels give many independent sums, which hide
/// the latency of a multiply-add, so the sums need not be split into chains.
template <int Panels, class Real>
LAMINA_NOINLINE void multiply_row(int depth, const basic_left_operand<Real>& operand,
                                  const Real* panels, std::ptrdiff_t panel_step,
                                  const Real* initial, Real* sums) {
  const basic_left_operand<Real> left = operand;
  using vector = vector_in<Real>;
  constexpr int lanes = lanes_in<Real>;
  constexpr int panel_width = panel_width_in<Real>;
  constexpr int vectors = Panels * tile_vectors;
  constexpr int count = chains(vectors);
  vector acc[bound(count)][bound(vectors)];
  LAMINA_UNROLL for (int c = 0; c < count; ++c) {
    LAMINA_UNROLL for (int j = 0; j < vectors; ++j) {
      acc[c][j] = c == 0 && initial != nullptr ? vector::load_aligned(initial + j * lanes)
                                               : vector(Real(0));
    }
  }
  const Real* base[bound(Panels)];
  LAMINA_UNROLL for (int p = 0; p < Panels; ++p) base[p] = panels + p * panel_step;
  const Real* element = left.data;
  const auto advance = [&](auto& chain) __attribute__((always_inline)) {
    const vector a(*element);
    element += left.step;
    LAMINA_UNROLL for (int p = 0; p < Panels; ++p) {
      LAMINA_UNROLL for (int j = 0; j < tile_vectors; ++j) {
        vector& sum = chain[p * tile_vectors + j];
        sum = fused_multiply_add(a, vector::load_unaligned(base[p] + j * lanes), sum);
      }
      base[p] += panel_width;
    }
  };
  int k = 0;
  for (; k + count <= depth; k += count) {
    LAMINA_UNROLL for (int c = 0; c < count; ++c) advance(acc[c]);
  }
  if constexpr (count > 1) {
    for (; k < depth; ++k) advance(acc[0]);
    LAMINA_UNROLL for (int c = 1; c < count; ++c) {
      LAMINA_UNROLL for (int j = 0; j < vectors; ++j) acc[0][j] += acc[c][j];
    }
  }
  LAMINA_UNROLL for (int j = 0; j < vectors; ++j) acc[0][j].store_aligned(sums + j * lanes);
}

template <int Vectors, class Rows, class Real = float>
struct micro_kernels;
template <int Vectors, int... Index, class Real>
struct micro_kernels<Vectors, std::integer_sequence<int, Index...>, Real> {
  static constexpr basic_micro_kernel<Real> table[] = {&multiply_tile<Index + 1, Vectors, Real>...};
};

}  // namespace detail

/// Returns the kernel for a tile of `rows` rows (1 to `tile_rows`) and `width` columns (the width
/// of a panel).
template <class Real = float>
inline basic_micro_kernel<Real> find_micro_kernel(int rows, int width) {
  using row_counts = std::make_integer_sequence<int, tile_rows>;
  constexpr int narrow = narrow_width_in<Real> / lanes_in<Real>;
  if (width == panel_width_in<Real>)
    return detail::micro_kernels<tile_vectors, row_counts, Real>::table[rows - 1];
  return detail::micro_kernels<narrow, row_counts, Real>::table[rows - 1];
}

}}}  // namespace lamina::engine::cpu
