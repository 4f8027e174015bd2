// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/product_body.hpp - what the threads of a matrix product do: a tile a team,
// a few rows of a pack of columns a thread, statements on the sums while they are in registers.
#pragma once

#include <lamina/engine/cuda/group_body.hpp>
#include <lamina/engine/cuda/tile_product.hpp>
#include <lamina/plan/instruction.hpp>

namespace lamina::engine::cuda {

/// Left[rows, depth] * Right[depth, columns] of the three heads, as they lie in memory:
/// gemm X W, gemm_dx dY W^T, gemm_dw X^T dY.
template <group_head Head>
struct product_sides {
  static constexpr bool left_turned = Head == group_head::gemm_dw;
  static constexpr bool right_turned = Head == group_head::gemm_dx;
  using left_reader = matrix_reader<!left_turned>;
  using right_reader = matrix_reader<right_turned>;

  template <class Arguments>
  static LAMINA_INLINE LAMINA_FN left_reader left(const Arguments& g) {
    const std::ptrdiff_t l = g.left_stride;
    return {g.of[0], left_turned ? 1 : l, left_turned ? l : 1, g.rows, g.depth};
  }
  template <class Arguments>
  static LAMINA_INLINE LAMINA_FN right_reader right(const Arguments& g) {
    const std::ptrdiff_t r = g.right_stride;
    return {g.of[1], right_turned ? r : 1, right_turned ? 1 : r, g.columns, g.depth};
  }
};

/// Tiles of the product, statements on their sums. Terms are added in the order of the depth.
template <group_head Head, class S, class Shape>
struct product_body {
  using runner = statement_runner<S>;
  using arguments = group_arguments<detail::largest<1, runner::arguments - 1>() + 1>;
  static constexpr int threads = Shape::threads;
  /// Many statements need registers more than they need other teams beside.
  static constexpr int least_resident = runner::count > 8 ? 1 : 0;
  using shared = typename Shape::memory;
  static int teams(const arguments& g) { return across(g) * down(g); }

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, const Team& team, shared& s) {
    const auto left = product_sides<Head>::left(g);
    const auto right = product_sides<Head>::right(g);
    typename Shape::template share<Team> mine(team);
    const int tiles = across(g) * down(g);
    for (int t = team.index; t < tiles; t += team.count) {
      const int row0 = t / across(g) * Shape::rows, column0 = t % across(g) * Shape::columns;
      mine.multiply(team, s, 0, g.depth, row0, left, column0, right);
      mine.template each_some<runner::together>(team, s,
                                                [&](int y, int step, int x, const auto& sums) {
                                                  finish(g, row0 + y, step, column0 + x, sums);
                                                });
    }
  }

 private:
  template <int N>
  static LAMINA_INLINE LAMINA_FN void finish(const arguments& g, int row, int step, int column,
                                             const pack (&sums)[N]) {
    if (row >= g.rows || column >= g.width) return;
    place at[N];
    int inside = 0;
    LAMINA_CUDA_UNROLL
    for (int n = 0; n < N; ++n) {
      const bool is_inside = row + n * step < g.rows;
      inside += is_inside;
      const int r = is_inside ? row + n * step : row;
      at[n] = {static_cast<std::ptrdiff_t>(r) * g.width + column, r, column};
    }
    runner::run_some(g.of, sums, at, inside);
  }
  static LAMINA_FN int across(const arguments& g) {
    return (g.width + Shape::columns - 1) / Shape::columns;
  }
  static LAMINA_FN int down(const arguments& g) { return (g.rows + Shape::rows - 1) / Shape::rows; }
};

}  // namespace lamina::engine::cuda
