// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/step_weights.hpp - the gradient of the weights of a recurrence: one product of
// the states before and the slopes of all steps.
#pragma once

#include <lamina/engine/cuda/part_sum_body.hpp>
#include <lamina/engine/cuda/recurrent_body.hpp>
#include <lamina/engine/cuda/split_row_sum.hpp>
#include <lamina/engine/cuda/tile_product.hpp>
#include <lamina/expression/expression.hpp>

namespace lamina::engine::cuda::detail {

/// Reads a matrix: element (line, term) lies at line * line_step + term * deep_step, and neighbours
/// in memory are terms or lines.
template <bool AlongDepth>
struct matrix_reader {
  static constexpr bool along_depth = AlongDepth;
  const float* data;
  std::ptrdiff_t line_step, deep_step;
  int lines, depth;

  struct line_type {
    const float* from;  // null: outside
  };
  struct deep_type {
    std::ptrdiff_t at;  // below zero: outside
  };
  LAMINA_INLINE LAMINA_FN line_type line(int i) const {
    return {i < lines ? data + i * line_step : nullptr};
  }
  LAMINA_INLINE LAMINA_FN deep_type deep(int k) const { return {k < depth ? k * deep_step : -1}; }
  LAMINA_INLINE LAMINA_FN float get(line_type l, deep_type d) const {
    return l.from != nullptr && d.at >= 0 ? l.from[d.at] : 0.0f;
  }
};

/// States as the left side of a product: lines are their elements, terms the rows.
struct states_reader {
  static constexpr bool along_depth = false;
  const states_before& states;
  int first, lines, depth;

  struct deep_type {
    const float* row;  // null: zeros
  };
  using line_type = int;
  LAMINA_INLINE LAMINA_FN line_type line(int i) const { return i; }
  LAMINA_INLINE LAMINA_FN deep_type deep(int k) const {
    return {k < depth ? states.row(first + k) : nullptr};
  }
  LAMINA_INLINE LAMINA_FN float get(line_type i, const deep_type& d) const {
    return i < lines && d.row != nullptr ? d.row[i] : 0.0f;
  }
};

/// to[i][q] = the sum over all rows of (state before)[i] * slope[q]: the gradient of the weights.
/// Where tiles are few, parts of the rows, a matrix each.
template <class Shape>
struct step_weight_body {
  struct arguments {
    states_before states;
    row_array slopes;
    float* to;
    std::ptrdiff_t to_stride, part_stride;
    int height, width, rows;
    int parts, part_rows;
  };
  static constexpr int threads = Shape::threads;
  using shared = typename Shape::memory;
  static int teams(const arguments& g) { return g.parts * across(g) * down(g); }

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, const Team& team, shared& s) {
    const int wide = across(g), tiles = wide * down(g);
    tile_share<Shape> mine(team);
    for (int t = team.index; t < g.parts * tiles; t += team.count) {
      const int part = t / tiles, tile = t % tiles, first = part * g.part_rows;
      const int end = g.rows - first < g.part_rows ? g.rows : first + g.part_rows;
      const int row0 = tile / wide * Shape::rows, column0 = tile % wide * Shape::columns;
      const states_reader left{g.states, first, g.height, end - first};
      const matrix_reader<false> right{g.slopes.data + first * g.slopes.stride, 1, g.slopes.stride,
                                       g.width, end - first};
      mine.multiply(team, s, end - first, row0, left, column0, right);
      float* const to = g.to + part * g.part_stride;
      mine.each([&](int y, int x, const pack& sums) {
        for (int j = 0; j < pack_width; ++j)
          if (const int row = row0 + y, column = column0 + x + j;
              row < g.height && column < g.width)
            to[row * g.to_stride + column] = sums.v[j];
      });
    }
  }

 private:
  static LAMINA_FN int across(const arguments& g) {
    return (g.width + Shape::columns - 1) / Shape::columns;
  }
  static LAMINA_FN int down(const arguments& g) {
    return (g.height + Shape::rows - 1) / Shape::rows;
  }
};

/// Launches for that gradient, `height` x `width`; `parts` has the floats that step_weight_parts()
/// tells.
template <class Backend>
void add_step_weights(Backend& b, const states_before& states, const row_array& slopes, float* to,
                      std::ptrdiff_t to_stride, int height, int width, int rows, float* parts) {
  using shape = typename Backend::product_tile;
  typename step_weight_body<shape>::arguments g{states, slopes, to,   to_stride, 0,
                                                height, width,  rows, 1,         rows};
  const int wanted = product_split<shape>::parts(height, width, rows);
  if (wanted == 1) return b.template teams<step_weight_body<shape>>(g);
  g.part_rows = product_split<shape>::part_terms(rows, wanted);
  g.parts = (rows + g.part_rows - 1) / g.part_rows;
  g.to = parts;
  g.to_stride = width;
  g.part_stride = std::ptrdiff_t{height} * width;
  b.template teams<step_weight_body<shape>>(g);
  add_parts(b, parts, g.parts, height, width, to, to_stride);
}
template <class Backend>
std::ptrdiff_t step_weight_parts(int height, int width, int rows) {
  return product_split<typename Backend::product_tile>::scratch(height, width, rows);
}

/// to[q] = the sum over all rows of slope[q], `width` of them, which are whole packs: the gradient
/// of the bias. `parts` has the floats that step_bias_parts() tells.
template <class Backend>
void add_step_biases(Backend& b, const row_array& slopes, float* to, int width, int rows,
                     float* parts) {
  using total = expression::statements<expression::let<keep, 0, 1, expression::head_value>>;
  typename row_sum_body<total, typename Backend::sum_tile>::arguments g{};
  g.of[0] = slopes.data;
  g.of[1] = to;
  g.left_stride = slopes.stride;
  g.rows = 1;
  g.columns = g.width = width;
  g.depth = rows;
  g.channels = 1;
  run_row_sum<total>(b, g, parts);
}
template <class Backend>
std::ptrdiff_t step_bias_parts(int width, int rows) {
  return row_sum_split<typename Backend::sum_tile>::scratch(width, rows);
}

}  // namespace lamina::engine::cuda::detail
