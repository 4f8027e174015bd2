// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/small_product.cuh - the addresses of the matrices in an array, and one
// kernel that computes many small matrix products.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/cuda/body/divider.cuh>
#include <lamina/engine/cuda/body/product.cuh>
#include <lamina/engine/cuda/body/tile_product.cuh>
#include <lamina/operators/matrix/matmul/common.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda::detail {

/// The offsets at which the matrices of an array begin. Each row of the array holds `in_row`
/// matrices. Consecutive rows are `row_step` floats apart, consecutive matrices in a row `step`
/// floats. If both steps are 0, all products use the same matrix.
struct matrix_list {
  int in_row = 1;
  std::ptrdiff_t row_step = 0, step = 0;

  matrix_list() = default;
  matrix_list(int each, std::ptrdiff_t from_row, std::ptrdiff_t from_matrix)
      : in_row(at_least_one(each)), row_step(from_row), step(from_matrix) {}
  explicit matrix_list(const matrix_side& m)
      : matrix_list(m.in_row, m.count == 1 ? 0 : m.row_step, m.count == 1 ? 0 : m.step) {}
  std::ptrdiff_t at(int i) const { return i / in_row * row_step + i % in_row * step; }
  /// The number of consecutive matrices, of `count` matrices, that are at equal distances, so that
  /// one batched product can use them.
  int even(int count) const {
    return in_row == 1 || in_row >= count || row_step == in_row * step ? count : in_row;
  }
  std::ptrdiff_t batch_stride() const { return in_row == 1 ? row_step : step; }
};

/// The matrices of an array, as the left or the right operand of products.
struct read_matrices {
  const float* data;
  matrix_list list;
  int rows, columns;
  std::ptrdiff_t stride;  // distance between stored rows
  bool is_turned;         // stored transposed

  read_matrices(const operand& o, const matrix_side& m)
      : read_matrices(o.row<const float>(0), matrix_list(m), m.height(), m.width(), m.stride,
                      m.transposed) {}
  read_matrices(const float* from, const matrix_list& matrices, int height, int width,
                std::ptrdiff_t row_stride, bool turned)
      : data(from),
        list(matrices),
        rows(height),
        columns(width),
        stride(row_stride),
        is_turned(turned) {}
  read_matrices turned() const { return {data, list, columns, rows, stride, !is_turned}; }
  product::side side(int first) const {
    return {data + list.at(first), stride, is_turned, list.batch_stride()};
  }
};

/// The matrices that receive the results of products.
struct written_matrices {
  float* data;
  matrix_list list;
  std::ptrdiff_t stride;
};

/// Reads a matrix as an operand of tile_part::multiply. A line is a row of the left operand or a
/// column of the right operand. Consecutive lines are `line_step` floats apart, consecutive terms
/// of a line `deep_step` floats.
template <bool AlongDepth>
struct matrix_reader {
  static constexpr bool along_depth = AlongDepth;
  const float* data;
  std::ptrdiff_t line_step, deep_step;
  int lines, depth;

  using line_type = const float*;
  using deep_type = std::ptrdiff_t;  // offset of a term; negative for a term past the last one
  // For a line past the last one any valid line may be read, because its results are not stored.
  LAMINA_INLINE LAMINA_FN line_type line(int i) const {
    return data + (i < lines ? i : 0) * line_step;
  }
  LAMINA_INLINE LAMINA_FN deep_type deep(int k) const { return k < depth ? k * deep_step : -1; }
  LAMINA_INLINE LAMINA_FN float get(line_type line, deep_type at) const {
    return at >= 0 ? load_constant<lone_float>(line + at).v[0] : 0.0f;
  }
};

/// The arguments of the kernel of small products. Matrix i of an operand begins at offset i /
/// in_row * row_step + i % in_row * step.
struct small_product_arguments {
  struct side {
    const float* data;
    std::ptrdiff_t stride, row_step, step;
    divider in_row;

    side(const read_matrices& m)
        : data(m.data),
          stride(m.stride),
          row_step(m.list.row_step),
          step(m.list.step),
          in_row(m.list.in_row) {}
    LAMINA_INLINE LAMINA_FN std::ptrdiff_t at(int i) const {
      const int row = in_row.divide(i);
      return row * row_step + i * step;
    }
  };
  side left, right, to;
  float* results;
  int rows, columns, depth, count;
  float alpha;
};

/// Computes products of matrices at unequal distances. Each block computes a tile of one product.
template <bool LeftTurned, bool RightTurned, class Shape>
struct small_product_body {
  using arguments = small_product_arguments;
  static constexpr int threads = Shape::threads;
  using shared = typename Shape::memory;
  static int teams(const arguments& g) { return g.count * down(g) * across(g); }

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, const Team& team, shared& s) {
    const int wide = across(g), tiles = down(g) * wide;
    tile_part<Shape> mine(team);
    for (int t = team.index; t < g.count * tiles; t += team.count) {
      const int matrix = t / tiles, in_matrix = t % tiles;
      const int row0 = in_matrix / wide * Shape::rows, column0 = in_matrix % wide * Shape::columns;
      const matrix_reader<!LeftTurned> left{g.left.data + g.left.at(matrix),
                                            LeftTurned ? 1 : g.left.stride,
                                            LeftTurned ? g.left.stride : 1, g.rows, g.depth};
      const matrix_reader<RightTurned> right{g.right.data + g.right.at(matrix),
                                             RightTurned ? g.right.stride : 1,
                                             RightTurned ? 1 : g.right.stride, g.columns, g.depth};
      mine.multiply(team, s, 0, g.depth, row0, left, column0, right);
      float* const to = g.results + g.to.at(matrix);
      mine.each([&](int y, int x, const pack& sums) {
        const int row = row0 + y;
        if (row >= g.rows) return;
        LAMINA_CUDA_UNROLL
        for (int j = 0; j < pack_width; ++j)
          if (const int column = column0 + x + j; column < g.columns)
            to[row * g.to.stride + column] = g.alpha * sums.v[j];
      });
    }
  }

 private:
  static LAMINA_FN int across(const arguments& g) { return tiles_for(g.columns, Shape::columns); }
  static LAMINA_FN int down(const arguments& g) { return tiles_for(g.rows, Shape::rows); }
};

template <class Backend>
void multiply_small(Backend& b, const read_matrices& left, const read_matrices& right,
                    const written_matrices& to, int count, float alpha) {
  const read_matrices written(to.data, to.list, left.rows, right.columns, to.stride, false);
  const small_product_arguments g{left,          right,        written, to.data, left.rows,
                                  right.columns, left.columns, count,   alpha};
  using tile = typename Backend::product_tile;
  const auto run = [&]<bool L, bool R> { b.template teams<small_product_body<L, R, tile>>(g); };
  if (left.is_turned && right.is_turned)
    run.template operator()<true, true>();
  else if (left.is_turned)
    run.template operator()<true, false>();
  else if (right.is_turned)
    run.template operator()<false, true>();
  else
    run.template operator()<false, false>();
}

}}}  // namespace lamina::engine::cuda::detail
