// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/gemm/gemm.hpp - matrix products with weights in panels: the forward product,
// the gradient of its input, and the gradient of the weights.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <lamina/engine/cpu/gemm/gemm_block.hpp>
#include <lamina/engine/cpu/gemm/panel_copies.hpp>
#include <lamina/engine/cpu/gemm/small_batch_gemm.hpp>
#include <lamina/engine/cpu/gemm/transpose.hpp>
#include <lamina/engine/cpu/memory/partial_sums.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

// The largest number of terms of a sum that is computed in one part. A longer sum is computed in
// parts of at most half as many terms, so that the rows of a panel that one part reads stay in the
// first two cache levels. Shorter sums are not divided, because storing partial sums costs time
// too.
template <class Real>
inline constexpr int most_depth = 4096 / static_cast<int>(sizeof(Real));
template <class Real>
constexpr even_parts parts_of_depth(int k_size) {
  return {k_size, k_size > most_depth<Real> ? most_depth<Real> / 2 : most_depth<Real>};
}

// Whether each part of a sum starts from 0 and is then added to a total. Otherwise a part continues
// the sum of the parts before it, which for so many terms would be one long chain of float
// additions that loses digits.
template <class Real>
constexpr bool adds_parts(int k_size) {
  return sizeof(Real) == sizeof(float) && k_size > longest_chain;
}

// Divides the rows of the left operand into blocks.
template <class Real>
constexpr even_parts parts_of_rows(int m_size, int depth) {
  return {m_size, resident_rows<Real>(depth)};
}

// The largest depth of a block if the panels of the right operand are transposed during the
// product. It is so small that a transposed part of a panel stays in the first-level cache while
// the block uses it.
template <class Real>
inline constexpr int most_turned_depth = panel_width_in<Real> * sizeof(Real) > 64 ? 192 : 256;
template <class Real>
constexpr even_parts parts_of_turned_depth(int k_size) {
  return {k_size, most_turned_depth<Real>};
}

// Whether rows with this stride evict each other from the first-level cache. Rows that are a
// multiple of 4 KiB apart compete for the same eight or twelve cache lines, which slows down tiles
// with more rows.
template <class Real>
constexpr bool rows_collide(std::ptrdiff_t stride) {
  return tile_rows > 8 && stride % (4096 / static_cast<int>(sizeof(Real))) == 0;
}

template <int Size, class Real>
LAMINA_INLINE void copy_lines(int count, const Real* from, std::ptrdiff_t step, Real* to) {
  for (int k = 0; k < count; ++k, from += step, to += Size)
    std::memcpy(to, from, Size * sizeof(Real));
}

// Packs a left operand that is the transpose of a row-major matrix. Each tile of rows becomes
// `depth` contiguous lines; line k has element k of each row of the tile.
template <class Real>
LAMINA_KERNEL void pack_tiles(int rows, int depth, basic_left_operand<Real> left, Real* packed);

// total += part; for the first part, total = part.
template <class Real>
LAMINA_NOINLINE void add_part(std::ptrdiff_t n, const Real* part, bool is_first, Real* total);

// Computes left[M,K] * right[K,N] and passes the tiles of the product to `run`. The left operand
// and the product may have any layout; `panels` must have at least K rows. With `turns`, `panels`
// hold the transpose of the right operand.
template <class Real>
LAMINA_KERNEL void multiply(int m_size, int k_size, int n_size, basic_left_operand<Real> left,
                            const Real* panels, int panel_rows, bool turns, product_layout layout,
                            basic_epilogue<Real> run, const void* context, Real* scratch,
                            panel_order order = panel_order::ascending,
                            const basic_partial_sums<Real>& sums = {});

// Whether the right operand is transposed panel by panel during the product. This is faster than a
// transpose before the product only if there are at most two blocks of rows, because the transpose
// is repeated for each block.
template <class Real = float>
constexpr bool turns_by_panel(int m_size, int k_size) {
  return parts_of_rows<Real>(m_size, parts_of_turned_depth<Real>(k_size).longest()).count() <= 2;
}

// The size of the scratch memory for the copy of a block of the left operand and for partial sums,
// if a part of a sum has up to `most_depth` terms. A product with fewer rows or shorter sums never
// needs more memory, although its blocks may be larger. Two callers rely on this: threads, which
// compute some of the rows with memory for all rows, and machines that have run a larger mini-batch
// before.
template <class Real = float>
constexpr std::ptrdiff_t block_floats(std::ptrdiff_t m_size, int k_size, int most_depth,
                                      int n_size) {
  const int depth = k_size < most_depth ? k_size : most_depth;
  const std::ptrdiff_t stride = padded(depth) + alignment_floats;
  std::ptrdiff_t floats = m_size * stride;
  if (m_size > least_resident_rows) {
    const std::ptrdiff_t fitting = resident_numbers<Real> + 2 * alignment_floats * m_size;
    if (floats > fitting) floats = fitting;
    if (floats < least_resident_rows * stride) floats = least_resident_rows * stride;
  }
  if (k_size <= most_depth) return floats;
  const std::ptrdiff_t most = resident_rows<Real>(most_depth / 4);
  const std::ptrdiff_t partial = (m_size < most ? m_size : most) * padded(n_size);
  return floats + (adds_parts<Real>(k_size) ? 2 * partial : partial);
}

#if LAMINA_DEFINES

template <class Real>
void pack_tiles(int rows, int depth, basic_left_operand<Real> left, Real* packed) {
  // Copies eight lines at a time: each line is read once for all tiles, and a tile receives eight
  // adjacent lines. More lines would evict each other: lines that are 4 KiB apart compete for the
  // same set of the first-level cache, which holds eight of them.
  constexpr int together = 8;
  const even_parts tiles(rows, tile_rows);
  for (int k = 0; k < depth; k += together) {
    const int count = depth - k < together ? depth - k : together;
    // The lines are far apart, so the hardware prefetcher does not load the next lines in time.
    for (int i = k + together; i < k + together + count && i < depth; ++i)
      for (int j = 0; j < rows; j += 16) __builtin_prefetch(left.data + i * left.step + j);
    for (int t = 0; t < tiles.count(); ++t) {
      const Real* from = left.data + k * left.step + tiles.first(t);
      const int size = tiles.size(t);
      Real* to = packed + static_cast<std::ptrdiff_t>(tiles.first(t)) * depth + k * size;
      if (size == tile_rows) {
        copy_lines<tile_rows>(count, from, left.step, to);
      } else if (size == tile_rows - 1) {
        copy_lines<tile_rows - 1>(count, from, left.step, to);
      } else {
        for (int i = 0; i < count; ++i, from += left.step, to += size)
          for (int j = 0; j < size; ++j) to[j] = from[j];
      }
    }
  }
}
LAMINA_INSTANCE(void pack_tiles<float>(int, int, basic_left_operand<float>, float*))
LAMINA_INSTANCE(void pack_tiles<double>(int, int, basic_left_operand<double>, double*))

template <class Real>
void add_part(std::ptrdiff_t n, const Real* part, bool is_first, Real* total) {
  for (std::ptrdiff_t i = 0; i < n; ++i) total[i] = is_first ? part[i] : total[i] + part[i];
}
LAMINA_INSTANCE(void add_part<float>(std::ptrdiff_t, const float*, bool, float*))
LAMINA_INSTANCE(void add_part<double>(std::ptrdiff_t, const double*, bool, double*))

template <class Real>
void multiply(int m_size, int k_size, int n_size, basic_left_operand<Real> left, const Real* panels,
              int panel_rows, bool turns, product_layout layout, basic_epilogue<Real> run,
              const void* context, Real* scratch, panel_order order,
              const basic_partial_sums<Real>& sums) {
  constexpr int panel_width = panel_width_in<Real>;
  if (m_size <= 0 || n_size <= 0) return;
  const even_parts depths =
      turns ? parts_of_turned_depth<Real>(k_size) : parts_of_depth<Real>(k_size);
  const even_parts blocks = parts_of_rows<Real>(m_size, depths.longest());
  const int count = panel_count<Real>(n_size);
  // A copy of the left operand saves time only if several panels read it and the operand itself
  // would not stay in the first-level cache. With a small K it stays there anyway, unless its lines
  // evict each other.
  const bool packs = left.row == 1 && left.step != 1 && count >= 3 &&
                     (k_size > 128 || left.step % (1024 / static_cast<int>(sizeof(Real))) == 0);
  const bool copies =
      left.step == 1 && rows_collide<Real>(left.row) && blocks.longest() > 2 && count >= 4;
  const std::ptrdiff_t copy_stride = padded(depths.longest()) + alignment_floats;
  basic_product_block<Real> block{};
  block.left_is_packed = packs;
  block.panels = panels;
  block.panel_depth = panel_rows;
  block.turns = turns;
  block.columns = n_size;
  block.from_end = order == panel_order::descending;
  block.strip = scratch;
  if (turns) scratch += depths.longest() * panel_width;
  block.partial = sums.of != nullptr ? sums.of : scratch + blocks.longest() * copy_stride;
  block.layout = layout;
  block.run = run;
  block.context = context;
  const bool adds = adds_parts<Real>(k_size) && sums.of == nullptr;
  Real* const total = block.partial + blocks.longest() * padded(n_size);
  for (int r = 0; r < blocks.count(); ++r) {
    block.row = blocks.first(r);
    block.rows = blocks.size(r);
    block.partial_rows = sums.of != nullptr ? m_size : block.rows;
    block.partial_row = sums.of != nullptr ? block.row : 0;
    for (int d = 0; d < depths.count(); ++d) {
      block.panel_k = depths.first(d);
      block.depth = depths.size(d);
      block.is_last = d + 1 == depths.count() && sums.ends;
      block.is_first = (d == 0 && !sums.continues) || (adds && !block.is_last);
      if (adds && block.is_last) std::copy_n(total, padded(n_size) * block.rows, block.partial);
      block.left = left;
      block.left.data += block.row * left.row + block.panel_k * left.step;
      if (packs) {
        pack_tiles(block.rows, block.depth, block.left, scratch);
        block.left.data = scratch;
      } else if (copies) {
        copy_rows(block.rows, block.depth, block.left.data, left.row, scratch, copy_stride);
        block.left = {scratch, copy_stride, 1};
      }
      gemm_block(block);
      if (adds && !block.is_last)
        add_part(padded(n_size) * block.rows, block.partial, d == 0, total);
    }
  }
}
LAMINA_INSTANCE(void multiply<float>(int, int, int, basic_left_operand<float>, const float*, int,
                                     bool, product_layout, basic_epilogue<float>, const void*,
                                     float*, panel_order, const basic_partial_sums<float>&))
LAMINA_INSTANCE(void multiply<double>(int, int, int, basic_left_operand<double>, const double*, int,
                                      bool, product_layout, basic_epilogue<double>, const void*,
                                      double*, panel_order, const basic_partial_sums<double>&))

#endif  // LAMINA_DEFINES

}  // namespace detail

/// The size in floats of the scratch memory for `gemm` with these sizes; it is also enough for a
/// smaller M or K.
template <class Real = float>
constexpr std::ptrdiff_t gemm_scratch_floats(int m_size, int k_size, int n_size) {
  return detail::block_floats<Real>(m_size, k_size, detail::most_depth<Real>, n_size);
}

/// Computes the product Y[M,N] = A[M,K] W[K,N] and passes it tile by tile to `run`. A is row-major
/// with rows `a_stride` numbers apart; nothing after its K columns is read. W is in panel layout.
/// The rows of the product are `product_stride` numbers apart, so the offset of a tile is row *
/// product_stride + column. Tiles cover `padded(N)` columns, panel by panel in the given order.
/// `scratch` holds `gemm_scratch_floats<Real>(M, K, N)` floats; `scratch` and `panels` must be
/// aligned to 64 bytes. K may be 0; then all sums are 0. (Operators mul, fc, conv2d.)
template <class Real>
LAMINA_KERNEL void gemm(int m_size, int k_size, int n_size, const Real* a, std::ptrdiff_t a_stride,
                        const Real* panels, std::ptrdiff_t product_stride, basic_epilogue<Real> run,
                        const void* context, Real* scratch,
                        panel_order order = panel_order::ascending);

/// The size in floats of the scratch memory for `gemm_dx` with these sizes; it is also enough for a
/// smaller M.
template <class Real = float>
constexpr std::ptrdiff_t gemm_dx_scratch_floats(int m_size, int k_size, int n_size) {
  const std::ptrdiff_t few = gemm_dx_small_batch_scratch_floats(
      m_size < small_batch_rows ? m_size : small_batch_rows, n_size);
  if (m_size <= small_batch_rows) return few;
  const std::ptrdiff_t by_panel =
      detail::parts_of_turned_depth<Real>(n_size).longest() * panel_width_in<Real> +
      detail::block_floats<Real>(m_size, n_size, detail::most_turned_depth<Real>, k_size);
  const std::ptrdiff_t fewer = few > by_panel ? few : by_panel;
  if (detail::turns_by_panel<Real>(m_size, n_size)) return fewer;
  const std::ptrdiff_t whole =
      panels_floats(n_size, k_size) + gemm_scratch_floats<Real>(m_size, n_size, k_size);
  return fewer > whole ? fewer : whole;
}

/// Computes the gradient of the left operand, dX[M,K] = dY[M,N] W[K,N]^T, and passes it tile by
/// tile to `run`. `panels` hold W. dY is row-major with rows `dy_stride` numbers apart; nothing
/// after its N columns is read. The rows of the product are `product_stride` numbers apart. Tiles
/// cover `padded(K)` columns; the sums of the columns after K are 0. `scratch` holds
/// `gemm_dx_scratch_floats(M, K, N)` floats and must be aligned to 64 bytes.
template <class Real>
LAMINA_KERNEL void gemm_dx(int m_size, int k_size, int n_size, const Real* dy,
                           std::ptrdiff_t dy_stride, const Real* panels,
                           std::ptrdiff_t product_stride, basic_epilogue<Real> run,
                           const void* context, Real* scratch);

/// The size in floats of the scratch memory for `gemm_dw` with these sizes; it is also enough for a
/// smaller M.
template <class Real = float>
constexpr std::ptrdiff_t gemm_dw_scratch_floats(int m_size, int k_size, int n_size) {
  return panels_floats(m_size, n_size) + gemm_scratch_floats<Real>(k_size, m_size, n_size);
}

/// The same product as `gemm_dw` (below) for a dY that is already in panels. The panels have
/// `panel_rows` rows, of which the first M are used. `scratch` holds `gemm_scratch_floats<Real>(K,
/// M, N)`.
template <class Real>
LAMINA_KERNEL void gemm_dw_packed(int m_size, int k_size, int n_size, const Real* x,
                                  std::ptrdiff_t x_stride, const Real* dy_panels, int panel_rows,
                                  basic_epilogue<Real> run, const void* context, Real* scratch,
                                  const basic_partial_sums<Real>& sums = {});

/// Computes the gradient of a weight, dW[K,N] = X[M,K]^T dY[M,N], and passes it tile by tile to
/// `run`. The product has the panel layout of W, and each tile lies within one panel. So `run` can
/// update W, or another array with the layout of W, element by element with the `offset` and
/// `stride` of the tile. X and dY are row-major with rows `x_stride` and `dy_stride` numbers apart;
/// nothing after their K and N columns is read. The sums in the padding of the last panel are 0.
/// `scratch` holds `gemm_dw_scratch_floats(M, K, N)` floats and must be aligned to 64 bytes. M may
/// be 0; then all sums are 0. To compute the sums over M in several calls, pass `sums` with memory
/// for panels_floats(K, N) numbers; only the last call then calls `run`.
template <class Real>
LAMINA_KERNEL void gemm_dw(int m_size, int k_size, int n_size, const Real* x,
                           std::ptrdiff_t x_stride, const Real* dy, std::ptrdiff_t dy_stride,
                           basic_epilogue<Real> run, const void* context, Real* scratch,
                           const basic_partial_sums<Real>& sums = {});

#if LAMINA_DEFINES

template <class Real>
void gemm(int m_size, int k_size, int n_size, const Real* a, std::ptrdiff_t a_stride,
          const Real* panels, std::ptrdiff_t product_stride, basic_epilogue<Real> run,
          const void* context, Real* scratch, panel_order order) {
  detail::multiply(m_size, k_size, n_size, basic_left_operand<Real>{a, a_stride, 1}, panels, k_size,
                   false, {1, product_stride}, run, context, scratch, order);
}
LAMINA_INSTANCE(void gemm<float>(int, int, int, const float*, std::ptrdiff_t, const float*,
                                 std::ptrdiff_t, basic_epilogue<float>, const void*, float*,
                                 panel_order))
LAMINA_INSTANCE(void gemm<double>(int, int, int, const double*, std::ptrdiff_t, const double*,
                                  std::ptrdiff_t, basic_epilogue<double>, const void*, double*,
                                  panel_order))

template <class Real>
void gemm_dx(int m_size, int k_size, int n_size, const Real* dy, std::ptrdiff_t dy_stride,
             const Real* panels, std::ptrdiff_t product_stride, basic_epilogue<Real> run,
             const void* context, Real* scratch) {
  if (m_size <= small_batch_rows) {
    gemm_dx_small_batch(m_size, k_size, n_size, dy, dy_stride, panels, product_stride, run, context,
                        scratch);
    return;
  }
  if (detail::turns_by_panel<Real>(m_size, n_size)) {
    detail::multiply(m_size, n_size, k_size, basic_left_operand<Real>{dy, dy_stride, 1}, panels,
                     n_size, true, {1, product_stride}, run, context, scratch);
    return;
  }
  transpose_panels(k_size, n_size, panels, scratch);
  gemm(m_size, n_size, k_size, dy, dy_stride, scratch, product_stride, run, context,
       scratch + panels_floats(n_size, k_size));
}
LAMINA_INSTANCE(void gemm_dx<float>(int, int, int, const float*, std::ptrdiff_t, const float*,
                                    std::ptrdiff_t, basic_epilogue<float>, const void*, float*))
LAMINA_INSTANCE(void gemm_dx<double>(int, int, int, const double*, std::ptrdiff_t, const double*,
                                     std::ptrdiff_t, basic_epilogue<double>, const void*, double*))

template <class Real>
void gemm_dw_packed(int m_size, int k_size, int n_size, const Real* x, std::ptrdiff_t x_stride,
                    const Real* dy_panels, int panel_rows, basic_epilogue<Real> run,
                    const void* context, Real* scratch, const basic_partial_sums<Real>& sums) {
  // If there are no rows, X may be a null pointer, and adding an offset to it would be undefined.
  detail::multiply(k_size, m_size, n_size,
                   basic_left_operand<Real>{m_size > 0 ? x : dy_panels, 1, x_stride}, dy_panels,
                   panel_rows, false, {k_size, 0}, run, context, scratch, panel_order::ascending,
                   sums);
}
LAMINA_INSTANCE(void gemm_dw_packed<float>(int, int, int, const float*, std::ptrdiff_t,
                                           const float*, int, basic_epilogue<float>, const void*,
                                           float*, const basic_partial_sums<float>&))
LAMINA_INSTANCE(void gemm_dw_packed<double>(int, int, int, const double*, std::ptrdiff_t,
                                            const double*, int, basic_epilogue<double>, const void*,
                                            double*, const basic_partial_sums<double>&))

template <class Real>
void gemm_dw(int m_size, int k_size, int n_size, const Real* x, std::ptrdiff_t x_stride,
             const Real* dy, std::ptrdiff_t dy_stride, basic_epilogue<Real> run,
             const void* context, Real* scratch, const basic_partial_sums<Real>& sums) {
  pack(m_size, n_size, dy, dy_stride, scratch);
  gemm_dw_packed(m_size, k_size, n_size, x, x_stride, scratch, m_size, run, context,
                 scratch + panels_floats(m_size, n_size), sums);
}
LAMINA_INSTANCE(void gemm_dw<float>(int, int, int, const float*, std::ptrdiff_t, const float*,
                                    std::ptrdiff_t, basic_epilogue<float>, const void*, float*,
                                    const basic_partial_sums<float>&))
LAMINA_INSTANCE(void gemm_dw<double>(int, int, int, const double*, std::ptrdiff_t, const double*,
                                     std::ptrdiff_t, basic_epilogue<double>, const void*, double*,
                                     const basic_partial_sums<double>&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
