// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/cos_sim/cuda.cuh - cosine similarity of rows: cos_sim.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/math.hpp>
#include <lamina/engine/cuda/body/recurrent_body.cuh>
#include <lamina/operators/norm/cos_sim/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// Pairs the rows of X with the rows of Y, or all rows of X with the single row of Y.
struct cosine_arguments {
  row_array x, y, cosine, x_norm, y_norm, d, dx, dy;
  bool shares_y;
  int rows, columns;
  int lines, width, count;

  LAMINA_INLINE LAMINA_FN int of_y(int r) const { return shares_y ? 0 : r; }
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

struct cosine_lines {
  using arguments = cosine_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int r, const Team& team) {
    const float *const x = a.x.row(r), *const y = a.y.row(a.of_y(r));
    // A double represents the square of any float.
    double xx = 0, yy = 0, xy = 0;
    for (int j = team.rank(); j < a.columns; j += team.size()) {
      const double u = static_cast<double>(x[j]), v = static_cast<double>(y[j]);
      xx += u * u, yy += v * v, xy += u * v;
    }
    const double x_size = math::sqrt(sum_of(team, xx)), y_size = math::sqrt(sum_of(team, yy));
    const float xn = static_cast<float>(x_size), yn = static_cast<float>(y_size);
    xy = sum_of(team, xy);
    if (team.rank() != 0) return;
    // The cosine of a vector of length 0 with any vector is 0.
    if (a.cosine)
      *a.cosine.row(r) = xn == 0 || yn == 0 ? 0.0f : static_cast<float>(xy / x_size / y_size);
    if (a.x_norm) *a.x_norm.row(r) = xn;
    // If all rows share one row of Y, the team of row 0 writes its norm.
    if (a.y_norm && (!a.shares_y || r == 0)) *a.y_norm.row(a.of_y(r)) = yn;
  }
};

struct cosine_grad_lines {
  using arguments = cosine_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int r, const Team& team) {
    const float *const x = a.x.row(r), *const y = a.y.row(a.of_y(r));
    const cosine_arguments::inverses by = a.of_norms(r);
    const float grad = *a.d.row(r), cosine = *a.cosine.row(r);
    // There are two loops, which are not unrolled: unrolled loops or a single loop would need more
    // registers than a thread has.
    LAMINA_CUDA_KEEP_LOOP
    for (int j = team.rank(); a.dx && j < a.columns; j += team.size())
      a.dx.row(r)[j] = by.none() ? 0.0f : (y[j] * by.y - x[j] * by.x * cosine) * (grad * by.x);
    if (!a.dy || a.shares_y) return;
    LAMINA_CUDA_KEEP_LOOP
    for (int j = team.rank(); j < a.columns; j += team.size())
      a.dy.row(r)[j] = by.none() ? 0.0f : (x[j] * by.x - y[j] * by.y * cosine) * (grad * by.y);
  }
};

/// Element j of the gradient of the single row of Y: a sum over all rows of X.
struct cosine_shared_lines {
  using arguments = cosine_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int j, const Team& team) {
    float sum = 0;
    // The loop is not unrolled, because with its divisions it would need more registers than a
    // thread has.
    LAMINA_CUDA_KEEP_LOOP
    for (int r = team.rank(); r < a.rows; r += team.size()) sum += a.grad_of_y(r, j);
    sum = sum_of(team, sum);
    if (team.rank() == 0) a.dy.row(0)[j] = sum;
  }
};

inline cosine_arguments cosine_of(const call_context& c) {
  const operand x = c.input(0), y = c.input(1);
  cosine_arguments a{};
  a.x = x;
  a.y = y;
  a.shares_y = y.rows == 1;
  a.rows = x.rows;
  a.columns = x.columns;
  return a;
}

}  // namespace detail

template <>
struct call_kernel<operators::cos_sim> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    require_float(c, c.input(0));
    auto a = detail::cosine_of(c);
    a.cosine = c.output(0);
    a.x_norm = c.output(1);
    a.y_norm = c.output(2);
    run_lines<detail::cosine_lines>(b, a, a.rows, a.columns, false);
  }
};
template <>
struct call_kernel<gradient_of<operators::cos_sim>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    auto a = detail::cosine_of(c);
    a.cosine = c.input(2);
    a.x_norm = c.input(3);
    a.y_norm = c.input(4);
    a.d = c.input(5);
    a.dx = c.output(0);
    a.dy = c.output(1);
    if (a.dx || (a.dy && !a.shares_y))
      run_lines<detail::cosine_grad_lines>(b, a, a.rows, a.columns, false);
    if (a.dy && a.shares_y) run_lines<detail::cosine_shared_lines>(b, a, a.columns, a.rows, true);
  }
};

}}}  // namespace lamina::engine::cuda
