// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/tile_product.cuh - computes a tile of a matrix product by a block of
// threads, in plain float arithmetic. Operands go from global memory through registers to shared
// memory; sums stay in registers. A reader object per operand handles its layout in global memory.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>

#include <lamina/engine/cuda/body/pack.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

template <class Shape>
struct tile_memory;

/// The shape of a tile. A block computes Rows x Columns results and adds `Depth` terms to each of
/// their sums at a time. A thread computes one pack of columns in `Each` rows.
template <int Rows, int Columns, int Depth, int Each>
struct tile_shape {
  using memory = tile_memory<tile_shape>;
  static constexpr int rows = Rows, columns = Columns, depth = Depth, each = Each;
  static constexpr int threads = Rows / Each * (Columns / pack_width);
  static_assert(Rows % Each == 0 && Columns % pack_width == 0);

  /// A tile with the same number of threads, Fold times fewer rows and Fold times more columns.
  template <int Fold>
  using folded =
      tile_shape<Rows / Fold, threads * pack_width / (Rows / Fold / (std::min)(Each, Rows / Fold)),
                 Depth, (std::min)(Each, Rows / Fold)>;
};

/// Returns how many tiles of `size` rows or columns cover `n` rows or columns.
LAMINA_INLINE LAMINA_FN int tiles_for(int n, int size) { return (n + size - 1) / size; }

/// The shared memory of a block: the next `depth` terms of each row of the left operand and of each
/// column of the right operand. Array rows are one pack longer than the tile. So threads that store
/// different terms of a line use different memory banks, and packs stay aligned.
template <class Shape>
struct tile_memory {
  alignas(16) float left[Shape::depth][Shape::rows + pack_width];
  alignas(16) float right[Shape::depth][Shape::columns + pack_width];
};

namespace detail {

/// Copies Lines x Depth elements of an operand from global to shared memory. A line is a row of the
/// left operand or a column of the right operand. A reader splits the address of an element into a
/// part that depends on the line and a part that depends on the term, so that a thread computes
/// each part only once. A reader provides:
///   static constexpr bool along_depth;   true: terms are adjacent in memory; false: lines
///   line_type line(int) const;   deep_type deep(int) const;
///   float get(line_type, deep_type) const;   0 for a term after the last one
template <int Lines, int Depth, int Threads, class Reader>
struct tile_loader {
  // Threads with consecutive ranks read adjacent elements of global memory.
  static constexpr int fastest = Reader::along_depth ? Depth : Lines < 32 ? Lines : 32;
  static constexpr int across = Threads < fastest ? Threads : fastest, down = Threads / across;
  static constexpr int line_step = Reader::along_depth ? down : across;
  static constexpr int deep_step = Reader::along_depth ? across : down;
  static constexpr int lines = Lines / line_step, depths = Depth / deep_step;  // numbers per thread
  static_assert(Lines % line_step == 0 && Depth % deep_step == 0 && Threads % across == 0);

  const Reader& reader;
  int line0, deep0;
  typename Reader::line_type line[bound(lines)];
  float loaded[bound(depths)][bound(lines)];

  LAMINA_INLINE LAMINA_FN tile_loader(const Reader& r, int rank, int first_line)
      : reader(r),
        line0(Reader::along_depth ? rank / across : rank % across),
        deep0(Reader::along_depth ? rank % across : rank / across) {
    LAMINA_CUDA_UNROLL
    for (int i = 0; i < lines; ++i) line[i] = reader.line(first_line + line0 + i * line_step);
  }
  /// Loads the next Depth terms, from term k on, from global memory to registers.
  LAMINA_INLINE LAMINA_FN void load(int k) {
    LAMINA_CUDA_UNROLL
    for (int d = 0; d < depths; ++d) {
      const auto deep = reader.deep(k + deep0 + d * deep_step);
      LAMINA_CUDA_UNROLL
      for (int i = 0; i < lines; ++i) loaded[d][i] = reader.get(line[i], deep);
    }
  }
  /// Stores the loaded elements to shared memory.
  template <std::size_t Width>
  LAMINA_INLINE LAMINA_FN void store(float (&to)[bound(Depth)][Width]) const {
    LAMINA_CUDA_UNROLL
    for (int d = 0; d < depths; ++d) {
      LAMINA_CUDA_UNROLL
      for (int i = 0; i < lines; ++i)
        to[deep0 + d * deep_step][line0 + i * line_step] = loaded[d][i];
    }
  }
};

/// The sums that a thread computes: one pack of columns in each of `Rows` rows.
template <int Rows>
struct tile_sums {
  pack row[bound(Rows)];

  LAMINA_INLINE LAMINA_FN void clear() {
    LAMINA_CUDA_UNROLL
    for (int r = 0; r < Rows; ++r) row[r] = filled(0.0f);
  }
  LAMINA_INLINE LAMINA_FN void add(const tile_sums& other) {
    LAMINA_CUDA_UNROLL
    for (int r = 0; r < Rows; ++r) {
      LAMINA_CUDA_UNROLL
      for (int j = 0; j < pack_width; ++j) row[r].v[j] += other.row[r].v[j];
    }
  }
  /// Adds the outer product of a column of the left operand and a pack of a row of the right
  /// operand.
  LAMINA_INLINE LAMINA_FN void add_product(const float* left, const pack& right) {
    if constexpr (Rows % pack_width == 0) {
      LAMINA_CUDA_UNROLL
      for (int first = 0; first < Rows; first += pack_width) {
        const pack a = load_pack(left + first);
        LAMINA_CUDA_UNROLL
        for (int r = 0; r < pack_width; ++r) add_row(first + r, a.v[r], right);
      }
    } else {
      LAMINA_CUDA_UNROLL
      for (int r = 0; r < Rows; ++r) add_row(r, left[r], right);
    }
  }

 private:
  LAMINA_INLINE LAMINA_FN void add_row(int r, float left, const pack& right) {
    LAMINA_CUDA_UNROLL
    for (int j = 0; j < pack_width; ++j) row[r].v[j] += left * right.v[j];
  }
};

}  // namespace detail

/// The part of a tile that a thread computes: the pack of columns at x_, in `each` rows from y_ on.
template <class Shape>
class tile_part {
 public:
  template <class Team>
  LAMINA_INLINE LAMINA_FN explicit tile_part(const Team& team)
      : x_(team.rank() % wide * pack_width), y_(team.rank() / wide * Shape::each) {}

  /// Computes the tile with the upper left corner (row0, column0): for each element, the sum of the
  /// terms in [first, end), added in order.
  template <class Team, class Left, class Right>
  LAMINA_INLINE LAMINA_FN void multiply(const Team& team, tile_memory<Shape>& s, int first, int end,
                                        int row0, const Left& left, int column0,
                                        const Right& right) {
    constexpr int depth = Shape::depth;
    detail::tile_loader<Shape::rows, depth, Shape::threads, Left> rows(left, team.rank(), row0);
    detail::tile_loader<Shape::columns, depth, Shape::threads, Right> columns(right, team.rank(),
                                                                              column0);
    detail::tile_sums<Shape::each> chunk;
    sums_.clear(), chunk.clear();
    int steps = steps_of_chunk;
    if (first < end) rows.load(first), columns.load(first);
    LAMINA_CUDA_KEEP_LOOP
    for (int k = first; k < end; k += depth) {
      rows.store(s.left), columns.store(s.right);
      team.barrier();
      // These loads overlap with the multiplication of the terms in shared memory.
      if (k + depth < end) rows.load(k + depth), columns.load(k + depth);
      LAMINA_CUDA_UNROLL
      for (int d = 0; d < depth; ++d) chunk.add_product(&s.left[d][y_], load_pack(&s.right[d][x_]));
      if (--steps == 0) {
        sums_.add(chunk), chunk.clear();
        steps = steps_of_chunk;
      }
      team.barrier();
    }
    sums_.add(chunk);
  }

  /// Calls f(row, column, sums) for each pack of the thread; row and column are relative to the
  /// tile.
  template <class F>
  LAMINA_INLINE LAMINA_FN void each(const F& f) const {
    LAMINA_CUDA_UNROLL
    for (int i = 0; i < Shape::each; ++i) f(y_ + i, x_, sums_.row[i]);
  }

 private:
  static constexpr int wide = Shape::columns / pack_width;
  /// A float sum of 10^6 terms loses digits. So chunks of 512 terms are summed separately, and then
  /// the sums of the chunks are added.
  static constexpr int steps_of_chunk = 512 / Shape::depth;

  int x_, y_;
  detail::tile_sums<Shape::each> sums_;
};

}}}  // namespace lamina::engine::cuda
