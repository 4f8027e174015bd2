// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/cos_sim/cuda.cuh - cosine similarity of rows: cos_sim.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/math.hpp>
#include <lamina/engine/cuda/body/bound_kernel.cuh>
#include <lamina/operators/norm/cos_sim/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// Pairs the rows of X with the rows of Y, or all rows of X with the single row of Y.
struct cosine_call : kernel_call {
  row_array x = input(0), y = input(1);
  bool shares_y = input(1).rows == 1;
  int rows = input(0).rows, columns = input(0).columns;

  LAMINA_INLINE LAMINA_FN int of_y(int r) const { return shares_y ? 0 : r; }
};

struct cosine_kernel : cosine_call {
  row_array cosine = output(0), x_norm = output(1), y_norm = output(2);
  int lines = rows, width = columns;

  template <class Team>
  LAMINA_INLINE LAMINA_FN void line(int r, const Team& team) const {
    const float *const a = x.row(r), *const b = y.row(of_y(r));
    // A double represents the square of any float.
    double xx = 0, yy = 0, xy = 0;
    for (int j = team.rank(); j < columns; j += team.size()) {
      const double u = static_cast<double>(a[j]), v = static_cast<double>(b[j]);
      xx += u * u, yy += v * v, xy += u * v;
    }
    const double x_size = math::sqrt(sum_of(team, xx)), y_size = math::sqrt(sum_of(team, yy));
    const float xn = static_cast<float>(x_size), yn = static_cast<float>(y_size);
    xy = sum_of(team, xy);
    if (team.rank() != 0) return;
    // The cosine of a vector of length 0 with any vector is 0.
    if (cosine)
      *cosine.row(r) = xn == 0 || yn == 0 ? 0.0f : static_cast<float>(xy / x_size / y_size);
    if (x_norm) *x_norm.row(r) = xn;
    // If all rows share one row of Y, the team of row 0 writes its norm.
    if (y_norm && (!shares_y || r == 0)) *y_norm.row(of_y(r)) = yn;
  }
};

struct cosine_grad_call : cosine_call {
  row_array cosine = input(2), x_norm = input(3), y_norm = input(4), d = input(5);
  row_array dx = output(0), dy = output(1);

  /// 1 / length of two vectors, for lengths of any size; 0 for a vector of length 0, which has no
  /// direction and whose gradient is 0.
  struct inverses {
    float x, y;
    LAMINA_INLINE LAMINA_FN bool none() const { return x == 0 && y == 0; }
  };
  LAMINA_INLINE LAMINA_FN inverses of_norms(int r) const {
    const float xn = *x_norm.row(r), yn = *y_norm.row(of_y(r));
    if (xn == 0 || yn == 0) return {0, 0};
    return {1 / xn, 1 / yn};
  }
  /// The contribution of row r to element j of dy.
  LAMINA_INLINE LAMINA_FN float grad_of_y(int r, int j) const {
    const inverses by = of_norms(r);
    if (by.none()) return 0;
    return (x.row(r)[j] * by.x - y.row(of_y(r))[j] * by.y * *cosine.row(r)) * (*d.row(r) * by.y);
  }
};

struct cosine_grad_kernel : cosine_grad_call {
  int lines = dx || (dy && !shares_y) ? rows : 0, width = columns;

  template <class Team>
  LAMINA_INLINE LAMINA_FN void line(int r, const Team& team) const {
    const float *const a = x.row(r), *const b = y.row(of_y(r));
    const inverses by = of_norms(r);
    const float grad = *d.row(r), cos = *cosine.row(r);
    // There are two loops, which are not unrolled: unrolled loops or a single loop would need more
    // registers than a thread has.
    LAMINA_CUDA_KEEP_LOOP
    for (int j = team.rank(); dx && j < columns; j += team.size())
      dx.row(r)[j] = by.none() ? 0.0f : (b[j] * by.y - a[j] * by.x * cos) * (grad * by.x);
    if (!dy || shares_y) return;
    LAMINA_CUDA_KEEP_LOOP
    for (int j = team.rank(); j < columns; j += team.size())
      dy.row(r)[j] = by.none() ? 0.0f : (a[j] * by.x - b[j] * by.y * cos) * (grad * by.y);
  }
};

/// Element j of the gradient of the single row of Y: a sum over all rows of X.
struct cosine_shared_kernel : cosine_grad_call {
  int lines = dy && shares_y ? columns : 0, width = rows;

  template <class Team>
  LAMINA_INLINE LAMINA_FN void line(int j, const Team& team) const {
    float sum = 0;
    // The loop is not unrolled, because with its divisions it would need more registers than a
    // thread has.
    LAMINA_CUDA_KEEP_LOOP
    for (int r = team.rank(); r < rows; r += team.size()) sum += grad_of_y(r, j);
    sum = sum_of(team, sum);
    if (team.rank() == 0) dy.row(0)[j] = sum;
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::cos_sim> : lines_call<detail::cosine_kernel> {};
template <>
struct call_kernel<gradient_of<operators::cos_sim>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    launch_lines<detail::cosine_grad_kernel>(b, c);
    launch_lines<detail::cosine_shared_kernel>(b, c);
  }
};

}}}  // namespace lamina::engine::cuda
