// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/group_body.hpp - what the threads of a fused group do: pointwise groups, sums
// over rows.
#pragma once

#include <lamina/engine/cuda/statement_runner.hpp>
#include <lamina/engine/cuda/team.hpp>

namespace lamina::engine::cuda {

/// What the kernel of a group is given, by value: it lies in constant memory.
template <int Arguments>
struct group_arguments {
  float* of[Arguments];
  int rows;                    // of the group
  int columns;                 // of the group ...
  int width;                   // ... and floats a row, padding included: whole packs
  int depth;                   // of a product or a sum
  std::ptrdiff_t left_stride;  // floats from row to row of argument 0
  std::ptrdiff_t right_stride;
  divider channel_size;  // of images: elements of a channel, and how many channels there are
  int channels;
};

/// One value a place. Rows without operands that tell rows from columns are one long row.
template <class S>
struct pointwise_body {
  using runner = statement_runner<S>;
  using arguments = group_arguments<at_least_one(runner::arguments)>;
  static constexpr bool by_place = runner::by_place;

  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, const position& at) {
    for (int r = at.row; r < g.rows; r += at.rows) {
      const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(r) * g.width;
      for (int c = at.column * pack_width; c < g.width; c += at.columns * pack_width)
        runner::run(g.of, filled(0.0f), {first + c, r, c, g.channel_size, g.channels});
    }
  }
};

/// How a team sums rows: `Packs` neighbouring packs, each by `Lanes` threads that take every
/// Lanes-th row.
template <int Packs, int Lanes>
struct sum_shape {
  static constexpr int packs = Packs, lanes = Lanes, threads = Packs * Lanes;
};

/// The sum over the rows of argument 0, and statements on it.
template <class S, class Shape>
struct row_sum_body {
  using runner = statement_runner<S>;
  using arguments = group_arguments<detail::largest<0, runner::arguments - 1>() + 1>;
  static constexpr int threads = Shape::threads;
  struct shared {
    pack part[Shape::lanes][Shape::packs];
  };
  static int teams(const arguments& g) {
    return (g.width / pack_width + Shape::packs - 1) / Shape::packs;
  }

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, const Team& team, shared& s) {
    const int x = team.rank() % Shape::packs, y = team.rank() / Shape::packs;
    const int all = g.width / pack_width;
    for (int t = team.index; t * Shape::packs < all; t += team.count) {
      const int column = (t * Shape::packs + x) * pack_width;
      pack sum = filled(0.0f);
      if (column < g.width)
        for (int r = y; r < g.depth; r += Shape::lanes) add(sum, load_constant(at(g, r) + column));
      s.part[y][x] = sum;
      team.barrier();
      if (y == 0 && column < g.width) {
        for (int l = 1; l < Shape::lanes; ++l) add(sum, s.part[l][x]);
        runner::run(g.of, sum, {column, 0, column});
      }
      team.barrier();
    }
  }

 private:
  static LAMINA_INLINE LAMINA_FN const float* at(const arguments& g, int row) {
    return g.of[0] + row * g.left_stride;
  }
  static LAMINA_INLINE LAMINA_FN void add(pack& sum, const pack& x) {
    LAMINA_CUDA_UNROLL
    for (int j = 0; j < pack_width; ++j) sum.v[j] += x.v[j];
  }
};

}  // namespace lamina::engine::cuda
