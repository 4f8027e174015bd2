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

/// What the threads of such a team share.
template <class Shape>
struct row_sum_memory {
  pack part[Shape::lanes][Shape::packs];
};

/// The sum over rows `first` to before `end` of a pack of columns of an array that is `width` wide,
/// which the first threads of the team have. Whoever goes on waits for the team.
template <class Shape, class Team>
LAMINA_INLINE LAMINA_FN pack sum_rows(const float* from, std::ptrdiff_t stride, int first, int end,
                                      int column, int width, const Team& team,
                                      row_sum_memory<Shape>& s) {
  const int x = team.rank() % Shape::packs, y = team.rank() / Shape::packs;
  const auto add = [](pack& sum, const pack& p) {
    LAMINA_CUDA_UNROLL
    for (int j = 0; j < pack_width; ++j) sum.v[j] += p.v[j];
  };
  pack sum = filled(0.0f);
  if (column < width)
    for (int r = first + y; r < end; r += Shape::lanes)
      add(sum, load_constant(from + r * stride + column));
  s.part[y][x] = sum;
  team.barrier();
  if (y == 0)
    for (int l = 1; l < Shape::lanes; ++l) add(sum, s.part[l][x]);
  return sum;
}

/// The sum over the rows of argument 0, and statements on it.
template <class S, class Shape>
struct row_sum_body {
  using runner = statement_runner<S>;
  using arguments = group_arguments<detail::largest<0, runner::arguments - 1>() + 1>;
  static constexpr int threads = Shape::threads;
  using shared = row_sum_memory<Shape>;
  static int teams(const arguments& g) {
    return (g.width / pack_width + Shape::packs - 1) / Shape::packs;
  }

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, const Team& team, shared& s) {
    const int x = team.rank() % Shape::packs;
    const int all = g.width / pack_width;
    for (int t = team.index; t * Shape::packs < all; t += team.count) {
      const int column = (t * Shape::packs + x) * pack_width;
      const pack sum =
          sum_rows<Shape>(g.of[0], g.left_stride, 0, g.depth, column, g.width, team, s);
      if (team.rank() < Shape::packs && column < g.width)
        runner::run(g.of, sum, {column, 0, column});
      team.barrier();
    }
  }
};

}  // namespace lamina::engine::cuda
