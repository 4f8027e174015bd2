// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/product_body.hpp - what the threads of a matrix product do: a tile a team,
// a few rows of a pack of columns a thread, statements on the sums while they are in registers.
#pragma once

#include <lamina/engine/cuda/group_body.hpp>
#include <lamina/plan/instruction.hpp>

namespace lamina::engine::cuda {

/// A tile of Rows x Columns, `Depth` terms at a time; each thread has `Each` rows of a pack.
template <int Rows, int Columns, int Depth, int Each>
struct tile_shape {
  static constexpr int rows = Rows, columns = Columns, depth = Depth, each = Each;
  static constexpr int threads = Rows / Each * (Columns / pack_width);
  static_assert(Rows % Each == 0 && Columns % pack_width == 0);
};

/// Left[rows, depth] * Right[depth, columns] of the three heads, as they lie in memory:
/// gemm X W, gemm_dx dY W^T, gemm_dw X^T dY. Terms are added in the order of the depth.
template <group_head Head, class S, class Shape>
struct product_body {
  using runner = statement_runner<S>;
  using arguments = group_arguments<detail::largest<1, runner::arguments - 1>() + 1>;
  static constexpr int threads = Shape::threads;
  static constexpr bool left_turned = Head == group_head::gemm_dw;
  static constexpr bool right_turned = Head == group_head::gemm_dx;
  struct shared {
    // A gap, so that what lies below each other is in different banks; packs stay aligned.
    alignas(16) float left[Shape::depth][Shape::rows + pack_width];
    alignas(16) float right[Shape::depth][Shape::columns + pack_width];
  };
  static int teams(const arguments& g) { return across(g) * down(g); }

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, const Team& team, shared& s) {
    constexpr int wide = Shape::columns / pack_width;
    const int x = team.rank() % wide * pack_width, y = team.rank() / wide * Shape::each;
    const int tiles = across(g) * down(g);
    for (int t = team.index; t < tiles; t += team.count) {
      const int row0 = t / across(g) * Shape::rows, column0 = t % across(g) * Shape::columns;
      pack sums[Shape::each];
      LAMINA_CUDA_UNROLL
      for (int r = 0; r < Shape::each; ++r) sums[r] = filled(0.0f);
      for (int k = 0; k < g.depth; k += Shape::depth) {
        load_left(g, team, s, row0, k);
        load_right(g, team, s, column0, k);
        team.barrier();
        LAMINA_CUDA_UNROLL
        for (int d = 0; d < Shape::depth; ++d) {
          const pack b = load_pack(&s.right[d][x]);
          LAMINA_CUDA_UNROLL
          for (int r = 0; r < Shape::each; ++r) {
            LAMINA_CUDA_UNROLL
            for (int j = 0; j < pack_width; ++j) sums[r].v[j] += s.left[d][y + r] * b.v[j];
          }
        }
        team.barrier();
      }
      const int column = column0 + x;
      LAMINA_CUDA_UNROLL
      for (int r = 0; r < Shape::each; ++r) {
        const int row = row0 + y + r;
        if (row < g.rows && column < g.width)
          runner::run(g.of, sums[r],
                      {static_cast<std::ptrdiff_t>(row) * g.width + column, row, column});
      }
    }
  }

 private:
  static LAMINA_FN int across(const arguments& g) {
    return (g.width + Shape::columns - 1) / Shape::columns;
  }
  static LAMINA_FN int down(const arguments& g) { return (g.rows + Shape::rows - 1) / Shape::rows; }
  // Neighbouring threads read neighbouring floats. Outside of the matrices there are zeros.
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void load_left(const arguments& g, const Team& team, shared& s,
                                                int row0, int k) {
    for (int i = team.rank(); i < Shape::rows * Shape::depth; i += Shape::threads) {
      const int r = left_turned ? i % Shape::rows : i / Shape::depth;
      const int d = left_turned ? i / Shape::rows : i % Shape::depth;
      const std::ptrdiff_t row = row0 + r, deep = k + d;
      float v = 0;
      if (row < g.rows && deep < g.depth)
        v = left_turned ? g.of[0][deep * g.left_stride + row] : g.of[0][row * g.left_stride + deep];
      s.left[d][r] = v;
    }
  }
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void load_right(const arguments& g, const Team& team, shared& s,
                                                 int column0, int k) {
    for (int i = team.rank(); i < Shape::columns * Shape::depth; i += Shape::threads) {
      const int c = right_turned ? i / Shape::depth : i % Shape::columns;
      const int d = right_turned ? i % Shape::depth : i / Shape::columns;
      const std::ptrdiff_t column = column0 + c, deep = k + d;
      float v = 0;
      if (column < g.columns && deep < g.depth)
        v = right_turned ? g.of[1][column * g.right_stride + deep]
                         : g.of[1][deep * g.right_stride + column];
      s.right[d][c] = v;
    }
  }
};

}  // namespace lamina::engine::cuda
