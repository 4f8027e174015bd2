// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/column_sums.cuh - sums over all rows of an array: one or several sums per
// column.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>

#include <lamina/engine/cuda/body/pack.cuh>
#include <lamina/engine/cuda/body/team.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// The shape of a thread block that sums columns: `Columns` adjacent columns, with `Lanes` threads
/// per column.
template <int Columns, int Lanes>
struct sum_shape {
  static constexpr int columns = Columns, lanes = Lanes, threads = Columns * Lanes;
};

/// Sums the terms of each column over all rows. The rows are divided into `parts` parts, which
/// separate blocks sum. Terms has `sums`, the number of sums per column, and
///   add(row, column, sums)      adds the terms of one row
/// Finish has
///   store(part, column, sums)   stores the sums of one part
/// The sums are doubles, because a float sum loses digits after thousands of terms.
template <class Terms, class Finish, class Shape>
struct column_sum_body {
  struct arguments {
    Terms terms;
    Finish finish;
    int rows, columns, parts;
  };
  static constexpr int threads = Shape::threads;
  struct shared {
    double of[Terms::sums][Shape::lanes][Shape::columns];
  };
  static int teams(const arguments& g) { return g.parts * tiles(g); }

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, const Team& team, shared& s) {
    const int x = team.rank() % Shape::columns, lane = team.rank() / Shape::columns;
    for (int t = team.index; t < g.parts * tiles(g); t += team.count) {
      const int part = t / tiles(g), column = t % tiles(g) * Shape::columns + x;
      double sums[Terms::sums] = {};
      // The threads of all blocks loop over the rows together. The loop is unrolled to load several
      // rows at once.
      if (column < g.columns) LAMINA_CUDA_UNROLL_BY_4
      for (int row = part * Shape::lanes + lane; row < g.rows; row += g.parts * Shape::lanes)
        g.terms.add(row, column, sums);
      for (int k = 0; k < Terms::sums; ++k) s.of[k][lane][x] = sums[k];
      team.barrier();
      if (lane == 0 && column < g.columns) {
        for (int k = 0; k < Terms::sums; ++k)
          for (int l = 1; l < Shape::lanes; ++l) sums[k] += s.of[k][l][x];
        g.finish.store(part, column, sums);
      }
      team.barrier();
    }
  }

 private:
  static LAMINA_FN int tiles(const arguments& g) {
    return (g.columns + Shape::columns - 1) / Shape::columns;
  }
};

/// The partial sums as rows of doubles, which one kernel stores and the next kernel sums.
template <int Sums>
struct partial_sums {
  static constexpr int sums = Sums;
  double* data;
  int columns;

  LAMINA_INLINE LAMINA_FN double* row(int part, int sum) const {
    return data + (static_cast<std::ptrdiff_t>(part) * Sums + sum) * columns;
  }
  LAMINA_INLINE LAMINA_FN void store(int part, int column, const double (&of)[bound(Sums)]) const {
    for (int k = 0; k < Sums; ++k) row(part, k)[column] = of[k];
  }
  LAMINA_INLINE LAMINA_FN void add(int part, int column, double (&to)[bound(Sums)]) const {
    for (int k = 0; k < Sums; ++k) to[k] += row(part, k)[column];
  }
};

/// Terms for the sums over an array: a term is an element.
struct array_terms {
  static constexpr int sums = 1;
  const float* data;
  std::ptrdiff_t stride;

  LAMINA_INLINE LAMINA_FN void add(int row, int column, double (&to)[1]) const {
    to[0] += static_cast<double>(load_constant<lone_float>(data + row * stride + column).v[0]);
  }
};
/// Stores each sum as a float in one row.
struct store_sums {
  float* to;
  LAMINA_INLINE LAMINA_FN void store(int, int column, const double (&sums)[1]) const {
    to[column] = static_cast<float>(sums[0]);
  }
};

/// Returns the number of parts into which the rows are divided: each thread sums at least 32 rows
/// if there are that many. It depends only on the number of rows and on Shape, so that equal inputs
/// give equal bits on all devices.
template <class Shape>
int column_parts(int rows) {
  return std::clamp(rows / (32 * Shape::lanes), 1, 256);
}
/// Returns how many floats of scratch memory sum_columns() needs for at most `rows` rows, with
/// `sums` sums per column.
template <class Backend>
std::ptrdiff_t column_scratch(int sums, int rows, int columns) {
  const int parts = column_parts<typename Backend::sum_tile>(rows);
  return parts == 1 ? 0 : std::ptrdiff_t{2} * sums * parts * columns;
}
/// Sums `terms` over all rows and passes the sums to `finish`, as the sums of part 0.
template <class Terms, class Finish, class Backend>
void sum_columns(Backend& b, const Terms& terms, const Finish& finish, int rows, int columns,
                 float* scratch) {
  using shape = typename Backend::sum_tile;
  using partial = partial_sums<Terms::sums>;
  const int parts = column_parts<shape>(rows);
  if (parts == 1)
    return b.template teams<column_sum_body<Terms, Finish, shape>>(
        {terms, finish, rows, columns, 1});
  const partial sums{reinterpret_cast<double*>(scratch), columns};
  b.template teams<column_sum_body<Terms, partial, shape>>({terms, sums, rows, columns, parts});
  b.template teams<column_sum_body<partial, Finish, shape>>({sums, finish, parts, columns, 1});
}

}}}  // namespace lamina::engine::cuda
