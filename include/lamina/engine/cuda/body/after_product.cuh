// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/after_product.cuh - runs the statements of a fused group on a finished
// matrix product, in a separate kernel.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/pointwise.cuh>
#include <lamina/engine/cuda/body/statement_runner.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// The body of the kernel: each thread runs the statements S on packs (4 adjacent floats) of the
/// product.
template <class S>
struct after_product_body {
  using runner = statement_runner<S>;
  struct arguments : group_arguments<at_least_one(runner::arguments)> {
    const float* product;  // rows of `width` floats
    divider packs;         // packs per row
    int count;             // number of packs in all rows
  };

  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, int i) {
    int column = i;
    const int row = g.packs.divide(column);
    column *= pack_width;
    const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(i) * pack_width;
    runner::run(g.of, load_constant(g.product + offset),
                {offset, row, column, g.channel_size, g.channels});
  }
};

/// Runs the statements S on `product`, whose rows have g.width floats.
template <class S, class Backend>
void run_after_product(Backend& b, typename after_product_body<S>::arguments g,
                       const float* product) {
  g.product = product;
  g.packs = divider(g.width / pack_width);
  g.count = g.rows * (g.width / pack_width);
  b.template elements<after_product_body<S>>(g);
}

}}}  // namespace lamina::engine::cuda
