// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/chain_room.hpp - how the operands of a chain of products lie in shared memory,
// and how much of it a chain may need. The plan asks, and so do the kernels.
#pragma once

#include <lamina/engine/cuda/tile_product.hpp>

namespace lamina::engine::cuda {

/// What a chain may need. Words are those of shared memory: 99 KiB is what every device of compute
/// capability 8.0 or later gives a team that asks for it.
struct chain_limits {
  static constexpr int links = 8;
  static constexpr int gradients = 4;  // links of one that has sums of gradients in registers
  static constexpr int width = 128;    // columns of a product, terms of a sum
  static constexpr int narrow = 64;    // of those whose weights' gradients are added up as well
  static constexpr int rows = 64;      // of a tile
  // Up to so many a team takes a pack of them: all packs are at work at once on some 128
  // processors.
  static constexpr int few_rows = 512;
  static constexpr int words = 99 * 1024 / 4;
};

/// Words of shared memory that operands of a chain need.
struct chain_room {
  operand_layout layout;

  LAMINA_FN constexpr int words(int terms) const { return padded(terms) / layout.terms; }
  LAMINA_FN constexpr int weight_step(int columns) const { return padded(columns) + layout.gap; }
  LAMINA_FN constexpr int weights(int depth, int columns) const {
    return words(depth) * weight_step(columns);
  }
  /// From row to row of activations of as many words.
  static constexpr int step(int words) { return words + pack_width; }
  /// From term to term of activations of as many rows, where they lie by terms.
  static constexpr int row_step(int rows) { return rows + pack_width; }
  constexpr int activations(int rows, int words) const {
    return layout.by_rows ? rows * step(words) : words * row_step(rows);
  }
};

/// Floats of the shared memory of a team that takes a pack of rows through products.
struct row_pass_room {
  /// The most columns of a product that hands on nothing, and numbers of its weights.
  static constexpr int widest = 512, most_weights = chain_limits::width * chain_limits::width;
  /// A pack of rows for each term, and for each thread or column.
  static constexpr int activations = chain_limits::width * pack_width;
  static constexpr int weights_at(int threads, int columns) {
    return activations + (threads > columns ? threads : columns) * pack_width;
  }
  /// Weights that are read by their rows, of which neighbours lie in different banks.
  LAMINA_FN static constexpr int line_step(int depth) { return depth | 1; }
  LAMINA_FN static constexpr int weights(int columns, int depth) {
    return columns * line_step(depth);
  }
};

}  // namespace lamina::engine::cuda
