// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/tile_product.hpp - a tile of a product by a team of threads: every matrix
// product and every convolution is one, and differs in how its two sides are read.
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

/// A tile of Rows x Columns, `Depth` terms at a time; each thread has `Each` rows of a pack.
template <int Rows, int Columns, int Depth, int Each>
struct tile_shape {
  using memory = tile_memory<tile_shape>;
  template <class>
  using share = tile_share<tile_shape>;
  static constexpr int rows = Rows, columns = Columns, depth = Depth, each = Each;
  static constexpr int threads = Rows / Each * (Columns / pack_width);
  static constexpr operand_layout operands{1, 0, false};
  static_assert(Rows % Each == 0 && Columns % pack_width == 0);

  template <int R>
  static constexpr int most_each = R < Each ? R : Each;
  /// A tile of as many threads that is `Fold` times lower, and the wider: `Fold` times, unless it
  /// has fewer rows than a thread has here.
  template <int Fold>
  using flat =
      tile_shape<Rows / Fold, threads * pack_width / (Rows / Fold / most_each<Rows / Fold>), Depth,
                 most_each<Rows / Fold>>;
};

/// What the threads of a team share. The gap puts what lies below each other in different banks;
/// packs stay aligned.
template <class Shape>
struct tile_memory {
  alignas(16) float left[Shape::depth][Shape::rows + pack_width];
  alignas(16) float right[Shape::depth][Shape::columns + pack_width];
};

namespace detail {

/// Copies Lines x Depth numbers of one side, by way of registers: while some are on their way,
/// those before are multiplied. A side tells what is known of a line (a row of the left, a column
/// of the right) and of a term apart, so that each thread finds out once; of a long side it takes
/// several lines, and finds out about a term for all of them:
///   static constexpr bool along_depth;   neighbouring threads take neighbouring terms
///   line_type line(int) const;   deep_type deep(int) const;
///   float get(line_type, deep_type) const;   0 outside
template <int Lines, int Depth, int Threads, class Side>
struct side_copy {
  static constexpr int first = Side::along_depth ? Depth : Lines < 32 ? Lines : 32;
  static constexpr int across = Threads < first ? Threads : first, down = Threads / across;
  static constexpr int line_step = Side::along_depth ? down : across;
  static constexpr int deep_step = Side::along_depth ? across : down;
  static constexpr int lines = Lines / line_step, depths = Depth / deep_step;
  static_assert(Lines % line_step == 0 && Depth % deep_step == 0 && Threads % across == 0);

  const Side& side;
  int line0, deep0;
  typename Side::line_type line[lines];
  float loaded[depths][lines];

  LAMINA_INLINE LAMINA_FN side_copy(const Side& s, int rank, int begin)
      : side(s),
        line0(Side::along_depth ? rank / across : rank % across),
        deep0(Side::along_depth ? rank % across : rank / across) {
    LAMINA_CUDA_UNROLL
    for (int i = 0; i < lines; ++i) line[i] = side.line(begin + line0 + i * line_step);
  }
  LAMINA_INLINE LAMINA_FN void load(int k) {
    LAMINA_CUDA_UNROLL
    for (int d = 0; d < depths; ++d) {
      const auto deep = side.deep(k + deep0 + d * deep_step);
      LAMINA_CUDA_UNROLL
      for (int i = 0; i < lines; ++i) loaded[d][i] = side.get(line[i], deep);
    }
  }
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

}  // namespace detail

/// A thread's share of a tile: rows y to y + each of the pack of columns at x.
template <class Shape>
struct tile_share {
  static constexpr int wide = Shape::columns / pack_width;
  int x, y;
  pack sums[Shape::each];

  template <class Team>
  LAMINA_INLINE LAMINA_FN explicit tile_share(const Team& team)
      : x(team.rank() % wide * pack_width), y(team.rank() / wide * Shape::each) {}

  /// sums = the terms from `first` to before `end`, added in this order, of the tile that begins at
  /// (row0, column0).
  template <class Team, class Left, class Right>
  LAMINA_INLINE LAMINA_FN void multiply(const Team& team, tile_memory<Shape>& s, int first, int end,
                                        int row0, const Left& left, int column0,
                                        const Right& right) {
    LAMINA_CUDA_UNROLL
    for (int r = 0; r < Shape::each; ++r) sums[r] = filled(0.0f);
    detail::side_copy<Shape::rows, Shape::depth, Shape::threads, Left> rows(left, team.rank(),
                                                                            row0);
    detail::side_copy<Shape::columns, Shape::depth, Shape::threads, Right> columns(
        right, team.rank(), column0);
    if (first < end) rows.load(first), columns.load(first);
    LAMINA_CUDA_KEEP_LOOP
    for (int k = first; k < end; k += Shape::depth) {
      rows.store(s.left);
      columns.store(s.right);
      team.barrier();
      if (k + Shape::depth < end) rows.load(k + Shape::depth), columns.load(k + Shape::depth);
      LAMINA_CUDA_UNROLL
      for (int d = 0; d < Shape::depth; ++d) add_term(s.left[d], load_pack(&s.right[d][x]));
      team.barrier();
    }
  }

  /// f(row, column, sums) for each pack of the thread, by its place in the tile.
  template <class Team, class F>
  LAMINA_INLINE LAMINA_FN void each(const Team&, tile_memory<Shape>&, const F& f) const {
    LAMINA_CUDA_UNROLL
    for (int i = 0; i < Shape::each; ++i) f(y + i, x, sums[i]);
  }
  /// f(first row, rows from pack to pack, column, sums) for all packs, which lie below each other.
  template <int, class Team, class F>
  LAMINA_INLINE LAMINA_FN void each_some(const Team&, tile_memory<Shape>&, const F& f) const {
    f(y, 1, x, sums);
  }

 private:
  template <int Width>
  LAMINA_INLINE LAMINA_FN void add_term(const float (&left)[Width], const pack& b) {
    float a[Shape::each];
    if constexpr (Shape::each % pack_width == 0) {
      LAMINA_CUDA_UNROLL
      for (int r = 0; r < Shape::each; r += pack_width) {
        const pack some = load_pack(&left[y + r]);
        LAMINA_CUDA_UNROLL
        for (int i = 0; i < pack_width; ++i) a[r + i] = some.v[i];
      }
    } else {
      LAMINA_CUDA_UNROLL
      for (int r = 0; r < Shape::each; ++r) a[r] = left[y + r];
    }
    LAMINA_CUDA_UNROLL
    for (int r = 0; r < Shape::each; ++r) {
      LAMINA_CUDA_UNROLL
      for (int j = 0; j < pack_width; ++j) sums[r].v[j] += a[r] * b.v[j];
    }
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
