// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/tile_product.hpp - a tile of a matrix product by a block of threads, in plain
// floats: operands go from global memory through registers to shared memory, sums stay in
// registers. Products and convolutions differ in the readers of their two operands.
#pragma once

#include <cstddef>
#include <cstdint>

#include <lamina/engine/cuda/pack.hpp>

namespace lamina::engine::cuda {

/// How operands lie that stay in shared memory: terms of a sum in a word, the gap of words behind
/// the weights of a term that keeps those apart which threads read at once, and whether activations
/// lie row by row or term by term.
struct operand_layout {
  int terms, gap;
  bool by_rows;
};

template <class Shape>
struct tile_memory;
template <class Shape>
struct tile_share;

/// A block computes Rows x Columns results, `Depth` terms of their sums at a time; a thread
/// computes `Each` rows of one pack of columns.
template <int Rows, int Columns, int Depth, int Each>
struct tile_shape {
  using memory = tile_memory<tile_shape>;
  template <class>
  using share = tile_share<tile_shape>;
  static constexpr int rows = Rows, columns = Columns, depth = Depth, each = Each;
  static constexpr int threads = Rows / Each * (Columns / pack_width);
  static constexpr operand_layout operands{1, 0, false};
  static_assert(Rows % Each == 0 && Columns % pack_width == 0);
};

/// Tiles of `size` that cover `n` rows or columns.
LAMINA_INLINE LAMINA_FN int tiles_for(int n, int size) { return (n + size - 1) / size; }

/// Shared memory: the next `depth` terms of each row of the left operand and of each column of the
/// right one. A row of it is a pack longer than the tile, so that threads that store terms of one
/// line hit different banks, and packs stay aligned.
template <class Shape>
struct tile_memory {
  alignas(16) float left[Shape::depth][Shape::rows + pack_width];
  alignas(16) float right[Shape::depth][Shape::columns + pack_width];
};

namespace detail {

/// Copies Lines x Depth numbers of an operand from global to shared memory. A line is a row of the
/// left operand or a column of the right one. A reader splits the address of an element into what
/// depends on the line and what depends on the term, so that a thread computes each only once:
///   static constexpr bool along_depth;   neighbours in memory are terms; else they are lines
///   line_type line(int) const;   deep_type deep(int) const;
///   float get(line_type, deep_type) const;   0 for a term past the last
template <int Lines, int Depth, int Threads, class Reader>
struct tile_loader {
  // Threads with consecutive ranks read neighbours in memory.
  static constexpr int fastest = Reader::along_depth ? Depth : Lines < 32 ? Lines : 32;
  static constexpr int across = Threads < fastest ? Threads : fastest, down = Threads / across;
  static constexpr int line_step = Reader::along_depth ? down : across;
  static constexpr int deep_step = Reader::along_depth ? across : down;
  static constexpr int lines = Lines / line_step, depths = Depth / deep_step;  // of one thread
  static_assert(Lines % line_step == 0 && Depth % deep_step == 0 && Threads % across == 0);

  const Reader& reader;
  int line0, deep0;
  typename Reader::line_type line[lines];
  float loaded[depths][lines];

  LAMINA_INLINE LAMINA_FN tile_loader(const Reader& r, int rank, int first_line)
      : reader(r),
        line0(Reader::along_depth ? rank / across : rank % across),
        deep0(Reader::along_depth ? rank % across : rank / across) {
    LAMINA_CUDA_UNROLL
    for (int i = 0; i < lines; ++i) line[i] = reader.line(first_line + line0 + i * line_step);
  }
  /// Global memory to registers, from term k on.
  LAMINA_INLINE LAMINA_FN void load(int k) {
    LAMINA_CUDA_UNROLL
    for (int d = 0; d < depths; ++d) {
      const auto deep = reader.deep(k + deep0 + d * deep_step);
      LAMINA_CUDA_UNROLL
      for (int i = 0; i < lines; ++i) loaded[d][i] = reader.get(line[i], deep);
    }
  }
  /// Registers to shared memory.
  template <int Width>
  LAMINA_INLINE LAMINA_FN void store(float (&to)[Depth][Width]) const {
    LAMINA_CUDA_UNROLL
    for (int d = 0; d < depths; ++d) {
      LAMINA_CUDA_UNROLL
      for (int i = 0; i < lines; ++i)
        to[deep0 + d * deep_step][line0 + i * line_step] = loaded[d][i];
    }
  }
};

/// The pack at the columns of a thread, of several rows.
template <int Rows>
struct tile_sums {
  pack row[Rows];

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
  /// Adds the outer product of a column of the left operand and a row of the right one.
  LAMINA_INLINE LAMINA_FN void add_product(const float* left, const pack& right) {
    static_assert(Rows % pack_width == 0);
    LAMINA_CUDA_UNROLL
    for (int first = 0; first < Rows; first += pack_width) {
      const pack a = load_pack(left + first);
      LAMINA_CUDA_UNROLL
      for (int r = 0; r < pack_width; ++r) {
        LAMINA_CUDA_UNROLL
        for (int j = 0; j < pack_width; ++j) row[first + r].v[j] += a.v[r] * right.v[j];
      }
    }
  }
};

}  // namespace detail

/// What a thread computes of a tile: rows y to y + each of the pack of columns at x.
template <class Shape>
struct tile_share {
  static constexpr int wide = Shape::columns / pack_width;
  /// A float that adds up 10^6 terms loses digits: the terms of a block are added up by themselves,
  /// and then the sums of the blocks.
  static constexpr int tiles_of_block = 512 / Shape::depth;
  int x, y;
  detail::tile_sums<Shape::each> sums;

  template <class Team>
  LAMINA_INLINE LAMINA_FN explicit tile_share(const Team& team)
      : x(team.rank() % wide * pack_width), y(team.rank() / wide * Shape::each) {}

  /// sums = the products of the terms from `first` to before `end`, added in this order, for the
  /// tile whose upper left corner is (row0, column0).
  template <class Team, class Left, class Right>
  LAMINA_INLINE LAMINA_FN void multiply(const Team& team, tile_memory<Shape>& s, int first, int end,
                                        int row0, const Left& left, int column0,
                                        const Right& right) {
    detail::tile_loader<Shape::rows, Shape::depth, Shape::threads, Left> rows(left, team.rank(),
                                                                              row0);
    detail::tile_loader<Shape::columns, Shape::depth, Shape::threads, Right> columns(
        right, team.rank(), column0);
    detail::tile_sums<Shape::each> block;
    sums.clear(), block.clear();
    int tiles_left = tiles_of_block;
    if (first < end) rows.load(first), columns.load(first);
    LAMINA_CUDA_KEEP_LOOP
    for (int k = first; k < end; k += Shape::depth) {
      rows.store(s.left), columns.store(s.right);
      team.barrier();
      // These loads are under way while the tile in shared memory is multiplied.
      if (k + Shape::depth < end) rows.load(k + Shape::depth), columns.load(k + Shape::depth);
      LAMINA_CUDA_UNROLL
      for (int d = 0; d < Shape::depth; ++d)
        block.add_product(&s.left[d][y], load_pack(&s.right[d][x]));
      if (--tiles_left == 0) {
        sums.add(block), block.clear();
        tiles_left = tiles_of_block;
      }
      team.barrier();
    }
    sums.add(block);
  }

  /// f(row, column, sums) for each pack of the thread, by its place in the tile.
  template <class Team, class F>
  LAMINA_INLINE LAMINA_FN void each(const Team&, tile_memory<Shape>&, const F& f) const {
    LAMINA_CUDA_UNROLL
    for (int i = 0; i < Shape::each; ++i) f(y + i, x, sums.row[i]);
  }
  /// f(first row, rows from pack to pack, column, sums) for all packs, which lie below each other.
  template <int, class Team, class F>
  LAMINA_INLINE LAMINA_FN void each_some(const Team&, tile_memory<Shape>&, const F& f) const {
    f(y, 1, x, sums.row);
  }
};

/// A matrix as a side of a product, neighbours in memory along the depth or along the lines:
/// element (line, term) at line * line_step + term * deep_step.
template <bool AlongDepth>
struct matrix_reader {
  static constexpr bool along_depth = AlongDepth;
  const float* data;
  std::ptrdiff_t line_step, deep_step;
  int lines, depth;

  struct line_type {
    const float* from;  // null: outside
  };
  struct deep_type {
    std::ptrdiff_t at;  // below zero: outside
  };
  LAMINA_INLINE LAMINA_FN line_type line(int i) const {
    return {i < lines ? data + i * line_step : nullptr};
  }
  LAMINA_INLINE LAMINA_FN deep_type deep(int k) const { return {k < depth ? k * deep_step : -1}; }
  LAMINA_INLINE LAMINA_FN float get(line_type l, deep_type d) const {
    return l.from != nullptr && d.at >= 0 ? l.from[d.at] : 0.0f;
  }

  /// Whether all packs of neighbours are aligned.
  LAMINA_INLINE LAMINA_FN bool has_packs() const {
    return reinterpret_cast<std::uintptr_t>(data) % sizeof(pack) == 0 &&
           (AlongDepth ? line_step : deep_step) % pack_width == 0;
  }
  /// How many of the pack of neighbours at element (line, term) are inside, if the other of the two
  /// is: all if it is the width or more.
  LAMINA_INLINE LAMINA_FN int inside(int line, int term) const {
    return AlongDepth ? depth - term : lines - line;
  }
  /// The pack of neighbours from element (line, term) on, whose number in its row is a multiple of
  /// the width. Outside it is 0, but behind the end of a row, where there are packs, what lies
  /// there: it belongs to the row. Nothing waits here for what is loaded.
  template <bool Packs>
  LAMINA_INLINE LAMINA_FN pack neighbours(int line, int term) const {
    pack p = filled(0.0f);
    const float* const from = data + line * line_step + term * deep_step;
    const bool crosses = AlongDepth ? line < lines : term < depth;
    if constexpr (Packs) {
      if (crosses && inside(line, term) > 0) p = load_pack(from);
    } else {
      LAMINA_CUDA_UNROLL
      for (int j = 0; j < pack_width; ++j)
        if (crosses && j < inside(line, term)) p.v[j] = from[j];
    }
    return p;
  }
};

}  // namespace lamina::engine::cuda
