// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/gemm/gemm_block.hpp - computes one cache block of a matrix product: some rows
// of the left operand times all panels.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/cpu/gemm/micro_kernel.hpp>
#include <lamina/engine/cpu/gemm/panel.hpp>
#include <lamina/engine/cpu/gemm/tile.hpp>
#include <lamina/engine/cpu/gemm/transpose.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// The number of elements of a left operand that stay in the second-level cache while the product
/// reads panels. They take 128 KiB.
template <class Real>
inline constexpr int resident_numbers = 128 * 1024 / static_cast<int>(sizeof(Real));
inline constexpr int resident_floats = resident_numbers<float>;
/// The number of rows of a left operand, each of `depth` elements, that stay in the second-level
/// cache. It is a multiple of `tile_rows` and at least four tiles.
inline constexpr int least_resident_rows = 4 * tile_rows;
template <class Real = float>
constexpr int resident_rows(int depth) {
  const int fitting = resident_numbers<Real> / (depth > 0 ? depth : 1) / tile_rows * tile_rows;
  return fitting < least_resident_rows ? least_resident_rows : fitting;
}

/// Divides a length into parts of nearly equal size, none longer than `most`. With parts of size
/// `most`, the last part could be short, and short parts are slow. There is always at least one
/// part.
class even_parts {
 public:
  constexpr even_parts(int length, int most)
      : count_(length > 0 ? (length + most - 1) / most : 1),
        least_(length / count_),
        longer_(length % count_) {}

  constexpr int count() const { return count_; }
  constexpr int longest() const { return least_ + (longer_ > 0 ? 1 : 0); }
  constexpr int first(int part) const { return part * least_ + (part < longer_ ? part : longer_); }
  constexpr int size(int part) const { return least_ + (part < longer_ ? 1 : 0); }

 private:
  int count_;
  int least_;
  int longer_;
};

/// Describes how a product of M rows is stored: element (row, column) of a tile that starts at
/// column c has the offset `c * column_scale + row * stride + column - c`. `column_scale` is 1 for
/// a row-major matrix and the number of rows for panels. For panels, `stride` is 0, which stands
/// for the width of the panel.
struct product_layout {
  std::ptrdiff_t column_scale;
  std::ptrdiff_t stride;
};

/// The order in which a product reads the panels of the right operand. Both orders give the same
/// results, bit for bit. If a cache cannot hold all panels, it holds the panels that the previous
/// product read last; a product in the opposite order begins with these panels.
enum class panel_order { ascending, descending };

/// One cache block of a product: `rows` rows of the left operand, `depth` terms of each sum, and
/// all columns of the right operand.
template <class Real>
struct basic_product_block {
  int row;  ///< first row of the block in the product
  int rows;
  int depth;
  basic_left_operand<Real> left;  ///< points to the block's first row and first k
  /// `left` is a packed copy: each tile is `depth` lines, as long as it has rows.
  bool left_is_packed;
  const Real* panels;  ///< the panels of the right operand
  int panel_depth;     ///< the number of rows of each panel
  int panel_k;         ///< the first of the `depth` panel rows that this block uses
  bool turns;          ///< `panels` hold the transpose of the right operand
  Real* strip;         ///< if `turns`: memory for one transposed panel of `depth` rows
  int columns;         ///< columns of the right operand, without padding
  bool from_end;       ///< panels are read from the last to the first
  Real* partial;       ///< unfinished sums, in panel layout, to which other blocks add
  int partial_rows;    ///< the number of rows of the panels in `partial`
  int partial_row;     ///< the row of `partial` at which this block begins
  bool is_first;       ///< the sums start from 0 and not from `partial`
  /// The sums are complete after this block and are passed to `run`.
  bool is_last;
  product_layout layout;
  basic_epilogue<Real> run;
  const void* context;
};

namespace detail {

/// The largest number of terms in one chain of float additions; a longer chain would lose digits.
inline constexpr int longest_chain = 64 * 1024;

/// Multiplies a block of one row by the panels of the columns [first, end), `Panels` panels at a
/// time.
template <int Panels, class Real>
LAMINA_NOINLINE void gemm_block_row(const basic_product_block<Real>& b, int first, int end) {
  constexpr int panel_width = panel_width_in<Real>;
  constexpr int together = Panels * panel_width;
  alignas(64) Real sums[bound(together)];
  const basic_left_operand<Real> left =
      b.left_is_packed ? basic_left_operand<Real>{b.left.data, 1, 1} : b.left;
  for (int done = 0; done < end - first; done += together) {
    const int column = b.from_end ? end - done - together : first + done;
    const Real* panels = b.panels + offset_of_panel(b.panel_depth, column) +
                         static_cast<std::ptrdiff_t>(b.panel_k) * panel_width;
    Real* unfinished = b.partial + column;  // the block has only one row
    multiply_row<Panels>(b.depth, left, panels, offset_of_panel(b.panel_depth, panel_width),
                         b.is_first ? nullptr : unfinished, b.is_last ? sums : unfinished);
    if (!b.is_last) continue;
    for (int p = 0; p < Panels; ++p) {
      const int at = column + p * panel_width;
      const std::ptrdiff_t stride = b.layout.stride > 0 ? b.layout.stride : panel_width;
      b.run({sums + p * panel_width, 1, panel_width, b.row, at,
             at * b.layout.column_scale + b.row * stride, stride},
            b.context);
    }
  }
}

/// Multiplies all tiles of a block by one panel.
template <class Real>
LAMINA_INLINE void gemm_block_panel(const basic_product_block<Real>& b, const even_parts& tiles,
                                    int column, Real* sums) {
  const int width = width_of_panel<Real>(b.columns, column);
  const Real* panel = b.panels;
  if (b.turns) {
    transpose_strip(b.columns, b.panel_depth, column, b.panel_k, b.depth, b.panels, b.strip);
    panel = b.strip;
  } else {
    panel +=
        offset_of_panel(b.panel_depth, column) + static_cast<std::ptrdiff_t>(b.panel_k) * width;
  }
  const std::ptrdiff_t stride = b.layout.stride > 0 ? b.layout.stride : width;
  for (int i = 0; i < tiles.count(); ++i) {
    const int row = tiles.first(i);
    const int rows = tiles.size(i);
    const basic_left_operand<Real> left =
        b.left_is_packed
            ? basic_left_operand<Real>{b.left.data + static_cast<std::ptrdiff_t>(row) * b.depth, 1,
                                       rows}
            : basic_left_operand<Real>{b.left.data + row * b.left.row, b.left.row, b.left.step};
    Real* unfinished = b.partial + static_cast<std::ptrdiff_t>(column) * b.partial_rows +
                       (b.partial_row + row) * width;
    find_micro_kernel<Real>(rows, width)(b.depth, left, panel, b.is_first ? nullptr : unfinished,
                                         b.is_last ? sums : unfinished);
    if (!b.is_last) continue;
    b.run({sums, rows, width, b.row + row, column,
           column * b.layout.column_scale + (b.row + row) * stride, stride},
          b.context);
  }
}

}  // namespace detail

/// Computes the tiles of a block. Passes complete sums to the epilogue `run` of the block, and
/// stores unfinished sums in `partial`.
template <class Real>
LAMINA_KERNEL void gemm_block(const basic_product_block<Real>& b);

#if LAMINA_DEFINES

template <class Real>
void gemm_block(const basic_product_block<Real>& b) {
  constexpr int full_width = panel_width_in<Real>;
  alignas(64) Real sums[bound(tile_rows * full_width)];
  const even_parts tiles(b.rows, tile_rows);
  const int end = padded(b.columns);
  // A block of a single row is multiplied by several panels at a time: by eight vectors of columns,
  // then by four, and the remaining panels one at a time. If eight vectors of columns take more
  // than half of a first-level cache of 32 KiB, and four do not, four are read together: a product
  // that reads the same panels in the opposite order then finds the last of them in the cache.
  constexpr int most = detail::panels_of_one_row * full_width;
  const bool lone = b.rows == 1 && b.partial_rows == 1 && !b.turns;
  constexpr int half_cache = 16 * 1024;
  const int bytes = b.depth * most * static_cast<int>(sizeof(Real));
  const bool halved = bytes > half_cache && bytes <= 2 * half_cache;
  const int whole = lone && !halved ? end - end % most : 0;
  const int halves = lone ? end - end % (most / 2) : 0;
  for (int part = 0; part < 3; ++part) {
    const int now = b.from_end ? 2 - part : part;
    if (now == 0) {
      detail::gemm_block_row<detail::panels_of_one_row>(b, 0, whole);
    } else if (now == 1) {
      detail::gemm_block_row<detail::panels_of_one_row / 2>(b, whole, halves);
    } else {
      // Multiplies all tiles by one panel and then by the next panel. The rows of the panel stay in
      // the first-level cache, and the tiles of the left operand are read from the second-level
      // cache. A product in panel layout is written sequentially.
      const int last = (end - halves + full_width - 1) / full_width - 1;
      for (int i = 0; i <= last; ++i)
        detail::gemm_block_panel(b, tiles, halves + (b.from_end ? last - i : i) * full_width, sums);
    }
  }
}
LAMINA_INSTANCE(void gemm_block<float>(const basic_product_block<float>&))
LAMINA_INSTANCE(void gemm_block<double>(const basic_product_block<double>&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
