// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/conv/winograd_products.hpp - the matrix products of a Winograd convolution, one
// per element of a transformed tile, and the transformed filters that these products read.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <utility>

#include <lamina/engine/cpu/conv/channel_squares.hpp>
#include <lamina/engine/cpu/conv/winograd_transforms.hpp>
#include <lamina/engine/cpu/gemm/gemm_block.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu::detail {

/// n rounded up to whole vectors.
constexpr int whole_lanes(int n) { return (n + lanes - 1) / lanes * lanes; }

/// Locates one vector of columns in a matrix of `columns` columns and `depth` rows that is stored
/// in panels. The last columns, which do not fill a whole panel, are in panels of one vector. The
/// vector of columns begins at `offset`; its rows are `width` floats apart.
struct winograd_panel_vector {
  std::ptrdiff_t offset;
  int width;
  LAMINA_API winograd_panel_vector(int columns, int depth, int column);
};

/// The sizes of a matrix product that is computed for each of the `points` elements of a tile.
/// `adds`: the products are added to earlier sums.
struct winograd_product_size {
  int points, rows, depth, columns;
  bool adds;
};

/// The smallest number of rows for which a tile of `vectors` vectors adds its sums in the same
/// order as a tile of `tile_rows` rows. Smaller tiles are not used, because a result must not
/// depend on which samples are computed together.
constexpr int find_least_tile_rows(int vectors) {
  int rows = tile_rows;
  while (rows > 1 && chains((rows - 1) * vectors) == chains(tile_rows * vectors)) --rows;
  return rows;
}
/// The least number of rows of a tile that is as wide as a panel (`least_whole_rows`), and of a
/// tile of one vector (`least_tile_rows`). The second is never smaller than the first.
inline constexpr int least_whole_rows = find_least_tile_rows(tile_vectors);
inline constexpr int least_tile_rows = find_least_tile_rows(1);
static_assert(least_whole_rows <= least_tile_rows);

/// sums = left * panels at each interpolation point. The matrices of two consecutive points are
/// left_point_stride, panel_point_stride and sums_point_stride floats apart. The sums are stored in
/// panels of `rows` rows. `left` and `sums` must have memory for at least `least_tile_rows` rows.
template <
    class Real = float>  // a template, so that its kernels are instantiated where it is called
LAMINA_NOINLINE void winograd_multiply(const winograd_product_size& s, left_operand left,
                                       std::ptrdiff_t left_point_stride, const float* panels,
                                       std::ptrdiff_t panel_point_stride, float* sums,
                                       std::ptrdiff_t sums_point_stride) {
  using row_counts = std::make_integer_sequence<int, tile_rows>;
  const even_parts tiles(s.rows, tile_rows);
  const float* const first_row = left.data;
  for (int k = 0; k < s.points; ++k) {
    for (int column = 0, width; column < whole_lanes(s.columns); column += width) {
      const winograd_panel_vector v(s.columns, s.depth, column);
      width = v.width;
      const int least = width == panel_width ? least_whole_rows : least_tile_rows;
      const micro_kernel* const kernels = width == panel_width
                                              ? micro_kernels<tile_vectors, row_counts, Real>::table
                                              : micro_kernels<1, row_counts, Real>::table;
      float* const to = sums + static_cast<std::ptrdiff_t>(column) * s.rows;
      for (int t = 0; t < tiles.count(); ++t) {
        int rows = tiles.size(t), first = tiles.first(t);
        if (rows < least && !s.adds) {
          // Enlarges the tile: it computes some rows a second time, or additional rows whose
          // results nobody reads.
          first = first + rows > least ? first + rows - least : 0;
          rows = least;
        }
        float* const tile = to + first * width;
        left.data = first_row + k * left_point_stride + first * left.row;
        kernels[rows - 1](s.depth, left, panels + v.offset, s.adds ? tile : nullptr, tile);
      }
    }
    panels += panel_point_stride;
    sums += sums_point_stride;
  }
}

/// Transformed filters, or their gradients, in the layout that the products use: for each
/// interpolation point, the panels of a matrix of `columns` columns and `depth` rows. `lines` is
/// memory for one vector of filters.
struct winograd_filters {
  float* data;
  std::ptrdiff_t point_stride;
  int columns, depth, size;  // size: taps of a filter along a side
  float* lines;

  /// Transforms filters; the elements of `filter` for two consecutive columns and rows are
  /// `column_stride` and `row_stride` floats apart.
  LAMINA_LAZY LAMINA_API LAMINA_NOINLINE void pack(square_transform run, const float* filter,
                                                   std::ptrdiff_t column_stride,
                                                   std::ptrdiff_t row_stride) const;
  /// Computes the gradients of filters from the gradients of the transformed filters.
  LAMINA_LAZY LAMINA_API LAMINA_NOINLINE void unpack(square_transform run, float* filter,
                                                     std::ptrdiff_t column_stride,
                                                     std::ptrdiff_t row_stride) const;

 private:
  template <class F>
  LAMINA_INLINE void for_each(F f) const {
    for (int column = 0; column < columns; column += lanes) {
      const winograd_panel_vector v(columns, depth, column);
      const int channels = columns - column < lanes ? columns - column : lanes;
      for (int row = 0; row < depth; ++row)
        f(column, channels, row, data + v.offset + static_cast<std::ptrdiff_t>(row) * v.width);
    }
  }
};

#if LAMINA_DEFINES

winograd_panel_vector::winograd_panel_vector(int columns, int depth, int column) {
  const int panels = whole_lanes(columns) / panel_width * panel_width;
  const int first = column < panels ? column / panel_width * panel_width : column;
  width = column < panels ? panel_width : lanes;
  offset = static_cast<std::ptrdiff_t>(first) * depth + (column - first);
}

LAMINA_LAZY_BODY void winograd_filters::pack(square_transform run, const float* filter,
                                             std::ptrdiff_t column_stride,
                                             std::ptrdiff_t row_stride) const {
  const int points = winograd_points(size);
  for_each([&](int column, int channels, int row, float* to) {
    gather_lanes(filter + column * column_stride + row * row_stride, column_stride, channels,
                 size * size, lines);
    run({1, 0, 0}, lines, {size * lanes, lanes}, to, {points * point_stride, point_stride},
        nullptr);
  });
}

LAMINA_LAZY_BODY void winograd_filters::unpack(square_transform run, float* filter,
                                               std::ptrdiff_t column_stride,
                                               std::ptrdiff_t row_stride) const {
  const int points = winograd_points(size);
  for_each([&](int column, int channels, int row, float* from) {
    run({1, 0, 0}, from, {points * point_stride, point_stride}, lines, {size * lanes, lanes},
        nullptr);
    scatter_lanes(lines, channels, size * size, filter + column * column_stride + row * row_stride,
                  column_stride);
  });
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu::detail
