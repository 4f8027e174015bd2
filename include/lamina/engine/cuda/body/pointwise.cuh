// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/pointwise.cuh - the bodies of fused groups: pointwise groups and sums
// over rows.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/statement_runner.cuh>
#include <lamina/engine/cuda/body/team.cuh>

namespace lamina::inline LAMINA_ABI::engine::cuda {

/// The arguments of a group's kernel. They are passed by value, so they are in constant memory.
template <int Arguments>
struct group_arguments {
  float* of[Arguments];
  int rows;                    // of the group
  int columns;                 // of the group ...
  int width;                   // ... and floats per row, padding included: whole packs
  int depth;                   // of a product or a sum
  std::ptrdiff_t left_stride;  // floats from row to row of argument 0
  std::ptrdiff_t right_stride;
  divider channel_size;  // of images: elements of a channel, and how many channels there are
  int channels;
};

/// Computes one value per element. If no operand depends on the row or the column alone, all rows
/// are treated as one long row.
template <class S>
struct pointwise_body {
  using runner = statement_runner<S>;
  using arguments = group_arguments<at_least_one(runner::arguments)>;
  static constexpr bool by_position = runner::by_position;

  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, const position& at) {
    for (int r = at.row; r < g.rows; r += at.rows) {
      const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(r) * g.width;
      for (int c = at.column * pack_width; c < g.width; c += at.columns * pack_width)
        runner::run(g.of, filled(0.0f), {first + c, r, c, g.channel_size, g.channels});
    }
  }
};

/// Runs the statements on sums over rows, with one column per thread.
template <class S>
struct column_statements {
  using runner = statement_runner<S>;
  using arguments = group_arguments<at_least_one(runner::arguments)>;
  arguments group;

  LAMINA_INLINE LAMINA_FN void store(int, int column, const double (&sums)[1]) const {
    const lone_float sum{{static_cast<float>(sums[0])}};
    runner::run(group.of, sum, {column, 0, column});
  }
};

}  // namespace lamina::inline LAMINA_ABI::engine::cuda
