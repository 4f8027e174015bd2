// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/pointwise.cuh - the bodies of pointwise groups, and of groups of
// statements on sums over rows.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/statement_runner.cuh>
#include <lamina/engine/cuda/body/team.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// The arguments of a fused group's kernel. They are passed by value, so CUDA places them in
/// constant memory.
template <int Arguments>
struct group_arguments {
  float* of[bound(Arguments)];
  int rows;                    // rows of the group's arrays
  int columns;                 // columns without padding
  int width;                   // floats per row with padding, a whole number of packs
  int depth;                   // terms per sum, in products and sums over rows
  std::ptrdiff_t left_stride;  // floats from row to row of argument 0, and of argument 1
  std::ptrdiff_t right_stride;
  divider channel_size;  // for images: elements per channel, and the number of channels
  int channels;
};

/// Runs the statements S once per element. If no operand depends only on the row or only on the
/// column, the launch treats all rows as one long row.
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

/// Runs the statements S on the sums over rows, with one column per thread.
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

}}}  // namespace lamina::engine::cuda
