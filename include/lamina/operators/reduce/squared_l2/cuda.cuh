// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/squared_l2/cuda.cuh - the kernels of l1_norm, squared_l2_norm and
// squared_l2_distance: norms of arrays, and distances of rows.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/math.hpp>
#include <lamina/operators/reduce/dimensions/cuda.cuh>
#include <lamina/operators/reduce/squared_l2/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

template <bool Squares>
struct norm_grad_body {
  struct arguments {
    const float *x, *grad;
    float* to;
    std::ptrdiff_t x_stride, to_stride;
    divider columns;
    int count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    int j = i;
    const int r = a.columns.divide(j);
    const float v = a.x[r * a.x_stride + j], grad = *a.grad;
    a.to[r * a.to_stride + j] = grad * (Squares ? 2 * v : math::sign(v));
  }
};
template <bool Squares>
struct whole_norm_grad_kernel {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), dx = c.output(0);
    if (dx)
      b.template elements<norm_grad_body<Squares>>(
          {x.row<const float>(0), c.input(1).row<const float>(0), dx.row<float>(0), x.stride,
           dx.stride, divider(x.columns), x.rows * x.columns});
  }
};

/// Computes the gradient of Y if Y has a single row, from which the distance of each row of X is
/// computed: a sum over the rows of X, in order.
struct shared_difference_body {
  struct arguments {
    const float *difference, *grad;
    float* to;
    std::ptrdiff_t difference_stride, grad_stride;
    int rows, count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int j) {
    float sum = 0;
    for (int r = 0; r < a.rows; ++r)
      sum -= 2 * a.grad[r * a.grad_stride] * a.difference[r * a.difference_stride + j];
    a.to[j] = sum;
  }
};
struct difference_grad_body {
  struct arguments {
    const float *difference, *grad;
    float *dx, *dy;
    std::ptrdiff_t difference_stride, grad_stride, dx_stride, dy_stride;
    divider columns;
    int count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    int j = i;
    const int r = a.columns.divide(j);
    const float g = 2 * a.grad[r * a.grad_stride] * a.difference[r * a.difference_stride + j];
    if (a.dx != nullptr) a.dx[r * a.dx_stride + j] = g;
    if (a.dy != nullptr) a.dy[r * a.dy_stride + j] = -g;
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::l1_norm> : detail::all_reduce_kernel<element_size, false> {};
template <>
struct call_kernel<gradient_of<operators::l1_norm>> : detail::whole_norm_grad_kernel<false> {};
template <>
struct call_kernel<operators::squared_l2_norm> : detail::all_reduce_kernel<element_square, false> {
};
template <>
struct call_kernel<gradient_of<operators::squared_l2_norm>> : detail::whole_norm_grad_kernel<true> {
};

template <>
struct call_kernel<operators::squared_l2_distance> {
  static void prepare(const call_context& c, call_arguments& a) {
    c.set_arrays(a, 2, 2);
    require_float(c, c.input(0));
    c.share_rows(a, a.in[0]);
  }
  template <class Team>
  static LAMINA_FN void line(const call_arguments& a, int r, const Team& team) {
    const float* const x = a.in[0].row<const float>(r);
    const float* const y = a.in[1].row<const float>(a.in[1].rows == 1 ? 0 : r);
    float sum = 0;
    for (int j = team.rank(); j < a.in[0].columns; j += team.size()) {
      const float d = x[j] - y[j];
      if (a.out[0]) a.out[0].row<float>(r)[j] = d;
      sum += d * d;
    }
    sum = sum_of(team, sum);
    if (team.rank() == 0 && a.out[1]) *a.out[1].row<float>(r) = sum;
  }
};
template <>
struct call_kernel<gradient_of<operators::squared_l2_distance>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand y = c.input(1), difference = c.input(2), grad = c.input(3);
    const operand dx = c.output(0), dy = c.output(1);
    const bool shared = dy && dy.rows == 1 && y.rows == 1;
    const float* const d = difference.row<const float>(0);
    const float* const s = grad.row<const float>(0);
    if (shared)
      b.template elements<detail::shared_difference_body>({d, s, dy.row<float>(0),
                                                           difference.stride, grad.stride,
                                                           difference.rows, difference.columns});
    if (dx || (dy && !shared))
      b.template elements<detail::difference_grad_body>(
          {d, s, dx ? dx.row<float>(0) : nullptr, dy && !shared ? dy.row<float>(0) : nullptr,
           difference.stride, grad.stride, dx.stride, dy.stride, divider(difference.columns),
           difference.rows * difference.columns});
  }
};

}}}  // namespace lamina::engine::cuda
