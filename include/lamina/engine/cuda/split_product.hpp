// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/split_product.hpp - parts of sums of many terms: how many, and the statements
// of a group on their sum.
#pragma once

#include <algorithm>

#include <lamina/engine/cuda/group_body.hpp>

namespace lamina::engine::cuda {

/// How a product is split: as many parts as keep a device of about 256 resident teams at work, each
/// of some tiles deep. The same on every device: equal inputs give equal bits.
template <class Shape>
struct product_split {
  static constexpr int resident = 256;
  /// Terms of the shortest part.
  static constexpr int shortest = 4 * Shape::depth < 64 ? 4 * Shape::depth : 64;

  /// The most parts of a product over `depth` terms: 1 if it is never split.
  static constexpr int most(int depth) {
    return depth < 2 * shortest ? 1 : (depth - 1) / shortest + 1;
  }
  static int parts(int rows, int width, int depth) {
    const auto tiles = [](int n, int each) { return (n + each - 1) / each; };
    const int all = tiles(rows, Shape::rows) * tiles(width, Shape::columns);
    return std::clamp(resident / std::max(1, all), 1, most(depth));
  }
  /// Terms of each part but the last: whole tiles, so that no other one is filled up with zeros.
  static int part_terms(int depth, int parts) {
    return (depth + parts * Shape::depth - 1) / (parts * Shape::depth) * Shape::depth;
  }
  /// Floats for the parts of as many rows, or of fewer, which may be split into more.
  static std::ptrdiff_t scratch(int rows, int width, int depth) {
    if (most(depth) == 1) return 0;
    const std::ptrdiff_t all = std::ptrdiff_t{rows} * width;
    return std::min(all * most(depth), std::ptrdiff_t{resident} * Shape::rows * Shape::columns);
  }
};

namespace detail {

template <int N>
LAMINA_INLINE LAMINA_FN void add_some_parts(pack& sum, const float*& from, std::ptrdiff_t step,
                                            int left) {
  pack some[N];
  LAMINA_CUDA_UNROLL
  for (int n = 0; n < N; ++n) {
    from += step;
    some[n] = n < left ? load_constant(from) : filled(0.0f);
  }
  LAMINA_CUDA_UNROLL
  for (int n = 0; n < N; ++n) {
    LAMINA_CUDA_UNROLL
    for (int j = 0; j < pack_width; ++j) sum.v[j] += some[n].v[j];
  }
}

}  // namespace detail

/// The sum of packs that lie `step` floats apart, in their order.
LAMINA_INLINE LAMINA_FN pack sum_of_parts(const float* from, std::ptrdiff_t step, int parts) {
  pack sum = load_constant(from);
  // Some at once, so that the way of one is the way of all.
  int left = parts - 1;
  LAMINA_CUDA_KEEP_LOOP
  for (; left > 4; left -= 8) detail::add_some_parts<8>(sum, from, step, left);
  if (left > 0) detail::add_some_parts<4>(sum, from, step, left);
  return sum;
}

/// The sum of the parts, in their order, as the head of a group.
template <class S>
struct part_statements_body {
  using runner = statement_runner<S>;
  struct arguments : group_arguments<at_least_one(runner::arguments)> {
    const float* part;
    std::ptrdiff_t step;  // floats from part to part
    int parts;
    divider packs;  // of a row of a part
    int count;      // packs of all rows
  };

  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, int i) {
    int column = i;
    const int row = g.packs.divide(column);
    column *= pack_width;
    const float* from = g.part + static_cast<std::ptrdiff_t>(i) * pack_width;
    const pack sum = sum_of_parts(from, g.step, g.parts);
    runner::run(g.of, sum,
                {static_cast<std::ptrdiff_t>(row) * g.width + column, row, column, g.channel_size,
                 g.channels});
  }
};

namespace detail {

/// The sum of parts as they lie behind each other, rows of `columns` floats, and the statements of
/// a group on it.
template <class S, class Backend, int Arguments>
void add_product_parts(Backend& b, const group_arguments<Arguments>& g, int columns,
                       const float* part, int parts) {
  using body = part_statements_body<S>;
  typename body::arguments sum{};
  for (int i = 0; i < body::runner::arguments; ++i) sum.of[i] = g.of[i];
  sum.rows = g.rows;
  sum.columns = g.columns;
  sum.width = g.width;
  sum.channel_size = g.channel_size;
  sum.channels = g.channels;
  sum.part = part;
  sum.parts = parts;
  sum.packs = divider(columns / pack_width);
  sum.count = g.rows * (columns / pack_width);
  sum.step = static_cast<std::ptrdiff_t>(sum.count) * pack_width;
  b.template elements<body>(sum);
}

}  // namespace detail

}  // namespace lamina::engine::cuda
