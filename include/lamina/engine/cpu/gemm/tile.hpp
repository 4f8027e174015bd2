// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/gemm/tile.hpp - a finished tile of a matrix product, and the epilogue, the
// function that processes the tile.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/cpu/vector/simd.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// A tile of finished sums in the first-level cache. Element (i, j), 0 <= i < rows and 0 <= j <
/// width, is `sums[i * width + j]`; it belongs to row `row + i` and column `column + j` of the
/// product.
template <class Real>
struct basic_tile {
  const Real* sums;  ///< aligned to 64 bytes
  int rows;          ///< 1 to `tile_rows`
  int width;         ///< columns, padding included: `panel_width` or `narrow_width`
  int row;           ///< the row of the product at which the tile starts
  int column;  ///< the column of the product at which the tile starts, the first column of a panel
  std::ptrdiff_t offset;  ///< the offset of element (0, 0) in the stored product and in all arrays
                          ///< of the same layout
  std::ptrdiff_t stride;  ///< numbers from row to row in these arrays
};
using tile = basic_tile<float>;

/// A function that processes the finished sums of a tile: it adds a bias, applies an activation or
/// the update of an optimizer, and so on. `context` is the pointer that the caller passed to the
/// product. An epilogue is called once for each tile, in unspecified order.
template <class Real>
using basic_epilogue = void (*)(const basic_tile<Real>&, const void* context);
using epilogue = basic_epilogue<float>;

namespace detail {

template <int Vectors, class Real, class Visit>
LAMINA_INLINE void for_each_vector(const basic_tile<Real>& t, Visit& visit) {
  using vector = vector_in<Real>;
  constexpr int lanes = lanes_in<Real>;
  const Real* sums = t.sums;
  std::ptrdiff_t offset = t.offset;
  const std::ptrdiff_t stride = t.stride;
  const int column = t.column;
  const int rows = t.rows;
  for (int i = 0; i < rows; ++i, sums += Vectors * lanes, offset += stride) {
    LAMINA_UNROLL for (int j = 0; j < Vectors; ++j) {
      visit(vector::load_aligned(sums + j * lanes), offset + j * lanes, column + j * lanes);
    }
  }
}

}  // namespace detail

/// Calls `visit(sums, offset, column)` for each vector of a tile: `sums` is the vector, `offset`
/// its position in the stored product, `column` the column of its first lane.
template <class Real, class Visit>
LAMINA_INLINE void for_each_vector(const basic_tile<Real>& t, Visit&& visit) {
  if (t.width == panel_width_in<Real>) {
    detail::for_each_vector<tile_vectors>(t, visit);
  } else {
    detail::for_each_vector<narrow_width_in<Real> / lanes_in<Real>>(t, visit);
  }
}

/// The epilogue that stores the sums unchanged, including those of padding columns. `context` is
/// the address of the stored product.
template <class Real>
inline void store_tile(const basic_tile<Real>& t, const void* context) {
  Real* product = static_cast<Real*>(const_cast<void*>(context));
  for_each_vector(t, [&](vector_in<Real> sums, std::ptrdiff_t offset, int) {
    sums.store_unaligned(product + offset);
  });
}

}}}  // namespace lamina::engine::cpu
