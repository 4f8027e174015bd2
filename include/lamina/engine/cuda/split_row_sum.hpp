// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/split_row_sum.hpp - sums over many rows: parts of the rows by teams of their
// own, then the parts added in their order, and statements on the sum.
#pragma once

#include <algorithm>

#include <lamina/engine/cuda/split_product.hpp>

namespace lamina::engine::cuda {

/// How the rows of a sum are split: as many parts as keep a device of about 256 resident teams at
/// work, each of some rows for every thread. The same on every device.
template <class Shape>
struct row_sum_split {
  static constexpr int resident = 256, shortest = 32 * Shape::lanes;

  static int parts(int width, int rows) {
    const int teams = (width / pack_width + Shape::packs - 1) / Shape::packs;
    return std::clamp(resident / std::max(1, teams), 1, std::max(1, rows / shortest));
  }
  /// Floats for the parts of as many rows, or of fewer.
  static std::ptrdiff_t scratch(int width, int rows) {
    const int n = parts(width, rows);
    return n > 1 ? static_cast<std::ptrdiff_t>(n) * width : 0;
  }
};

/// of[1][part] = the sum over the rows of one part of argument 0.
template <class Shape>
struct part_row_sum_body {
  struct arguments : group_arguments<2> {
    int parts, part_rows;
  };
  static constexpr int threads = Shape::threads;
  using shared = row_sum_memory<Shape>;
  static int teams(const arguments& g) { return g.parts * across(g); }

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, const Team& team, shared& s) {
    const int x = team.rank() % Shape::packs, wide = across(g);
    for (int t = team.index; t < g.parts * wide; t += team.count) {
      const int part = t / wide, first = part * g.part_rows;
      const int column = (t % wide * Shape::packs + x) * pack_width;
      const int end = g.depth - first < g.part_rows ? g.depth : first + g.part_rows;
      const pack sum =
          sum_rows<Shape>(g.of[0], g.left_stride, first, end, column, g.width, team, s);
      if (team.rank() < Shape::packs && column < g.width)
        store_pack(g.of[1] + static_cast<std::ptrdiff_t>(part) * g.width + column, sum);
      team.barrier();
    }
  }

 private:
  static LAMINA_FN int across(const arguments& g) {
    return (g.width / pack_width + Shape::packs - 1) / Shape::packs;
  }
};

namespace detail {

/// A sum over rows, in parts where there are many; `scratch` has room for these.
template <class S, class Backend, class Arguments>
void run_row_sum(Backend& b, const Arguments& g, float* scratch) {
  using shape = typename Backend::sum_tile;
  const int parts = row_sum_split<shape>::parts(g.width, g.depth);
  if (parts == 1) return b.template teams<row_sum_body<S, shape>>(g);
  typename part_row_sum_body<shape>::arguments p{};
  p.of[0] = g.of[0];
  p.of[1] = scratch;
  p.width = g.width;
  p.depth = g.depth;
  p.left_stride = g.left_stride;
  p.part_rows = (g.depth + parts - 1) / parts;
  p.parts = (g.depth + p.part_rows - 1) / p.part_rows;
  b.template teams<part_row_sum_body<shape>>(p);
  add_product_parts<S>(b, g, g.width, scratch, p.parts);
}

}  // namespace detail

}  // namespace lamina::engine::cuda
