// SPDX-License-Identifier: Apache-2.0
// lamina/operators/pool/pool2d/cuda.cuh - pooling over windows of images, one thread per element:
// pool2d.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/extremes.hpp>
#include <lamina/engine/common/divider.hpp>
#include <lamina/engine/cuda/body/pack.cuh>
#include <lamina/engine/cuda/schedule/call_context.hpp>
#include <lamina/operators/pool/pool2d/common.hpp>
#include <lamina/operators/pool/pool2d/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

struct pool_arguments {
  pool_windows windows;
  const float *x, *y, *grad;
  float* to;
  std::ptrdiff_t x_stride, y_stride, grad_stride, to_stride;
  divider columns, size, width;  // division by the result's columns, channel size, width
  int count;

  struct element {
    int row, column, channel, y, x;
  };
  LAMINA_INLINE LAMINA_FN element at(int i) const {
    element e;
    e.row = columns.divide(i);
    e.column = i;
    e.channel = size.divide(i);
    e.y = width.divide(i);
    e.x = i;
    return e;
  }
};

inline pool_arguments pool_of(const pool_windows& w, const operand& to, int height, int width) {
  pool_arguments a{w,         nullptr, nullptr, nullptr, to.row<float>(0),    0, 0, 0,
                   to.stride, {},      {},      {},      to.rows * to.columns};
  a.columns = divider(to.columns);
  a.size = divider(height * width);
  a.width = divider(width);
  return a;
}

struct pool_body {
  using arguments = pool_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, int i) {
    const pool_windows& w = g.windows;
    const auto e = g.at(i);
    const float* const from = g.x + e.row * g.x_stride + e.channel * w.in_size();
    const int top = w.height.first(e.y), bottom = w.height.end(e.y);
    const int left = w.width.first(e.x), right = w.width.end(e.x);
    float most = from[top * w.width.in + left], sum = 0;
    for (int y = top; y < bottom; ++y)
      for (int x = left; x < right; ++x) {
        const float v = from[y * w.width.in + x];
        most = math::maximum(most, v);
        sum += v;
      }
    g.to[e.row * g.to_stride + e.column] =
        w.is_average ? sum * w.share(bottom - top, right - left) : most;
  }
};

/// The first position in a window whose value is `best`, which may be NaN.
LAMINA_INLINE LAMINA_FN int first_of(const float* from, int width, int top, int bottom, int left,
                                     int right, float best) {
  for (int y = top; y < bottom; ++y) {
    LAMINA_CUDA_KEEP_LOOP
    for (int x = left; x < right; ++x)
      if (math::is_same(from[y * width + x], best)) return y * width + x;
  }
  return top * width + left;
}

/// Each element of the image adds up the gradients of the windows that contain it.
struct pool_grad_body {
  using arguments = pool_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, int i) {
    const pool_windows& w = g.windows;
    const auto e = g.at(i);
    const std::ptrdiff_t channel = e.channel * w.out_size();
    const float* const grad = g.grad + e.row * g.grad_stride + channel;
    const float* const best = g.y + e.row * g.y_stride + channel;
    const float* const from = g.x + e.row * g.x_stride + e.channel * w.in_size();
    float sum = 0;
    for (int y = w.height.first_window(e.y); y < w.height.out && w.height.first(y) <= e.y; ++y) {
      LAMINA_CUDA_KEEP_LOOP
      for (int x = w.width.first_window(e.x); x < w.width.out && w.width.first(x) <= e.x; ++x) {
        const int at = y * w.width.out + x;
        const int top = w.height.first(y), bottom = w.height.end(y);
        const int left = w.width.first(x), right = w.width.end(x);
        if (e.y >= bottom || e.x >= right) continue;
        if (w.is_average)
          sum += grad[at] * w.share(bottom - top, right - left);
        else if (first_of(from, w.width.in, top, bottom, left, right, best[at]) ==
                 e.y * w.width.in + e.x)
          sum += grad[at];
      }
    }
    g.to[e.row * g.to_stride + e.column] = sum;
  }
};

/// The gradient of windows that do not overlap: one thread per window writes the elements of its
/// window. Elements after the last windows get 0 from the threads of these windows.
struct own_grad_body {
  using arguments = pool_arguments;
  static constexpr int most_elements = 16;
  static bool receives(const pool_windows& w) {
    return w.lie_side_by_side() && w.height.size * w.width.size <= most_elements;
  }
  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, int i) {
    const pool_windows& w = g.windows;
    const auto e = g.at(i);
    const int top = w.height.first(e.y), bottom = w.height.end(e.y);
    const int left = w.width.first(e.x), right = w.width.end(e.x);
    const int last_row = e.y + 1 == w.height.out ? w.height.in : bottom;
    const int last_column = e.x + 1 == w.width.out ? w.width.in : right;
    const std::ptrdiff_t channel = e.channel * w.in_size();
    float* const to = g.to + e.row * g.to_stride + channel;
    float grad = g.grad[e.row * g.grad_stride + e.column];
    int best = -1;
    if (w.is_average)
      grad *= w.share(bottom - top, right - left);
    else
      best = first_of(g.x + e.row * g.x_stride + channel, w.width.in, top, bottom, left, right,
                      g.y[e.row * g.y_stride + e.column]);
    for (int y = top; y < last_row; ++y) {
      LAMINA_CUDA_KEEP_LOOP
      for (int x = left; x < last_column; ++x) {
        const int position = y * w.width.in + x;
        const bool receives = w.is_average ? y < bottom && x < right : position == best;
        to[position] = receives ? grad : 0.0f;
      }
    }
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::pool2d> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), y = c.output(0);
    require_float(c, x);
    const pool_windows w(c, x, y);
    auto a = detail::pool_of(w, y, w.height.out, w.width.out);
    a.x = x.row<const float>(0);
    a.x_stride = x.stride;
    b.template elements<detail::pool_body>(a);
  }
};

template <>
struct call_kernel<gradient_of<operators::pool2d>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), y = c.input(1), d = c.input(2), dx = c.output(0);
    if (!dx) return;
    const pool_windows w(c, x, y);
    const bool own = detail::own_grad_body::receives(w);
    auto a = own ? detail::pool_of(w, y, w.height.out, w.width.out)
                 : detail::pool_of(w, dx, w.height.in, w.width.in);
    a.to = dx.row<float>(0);
    a.to_stride = dx.stride;
    a.x = x.row<const float>(0);
    a.x_stride = x.stride;
    a.y = y.row<const float>(0);
    a.y_stride = y.stride;
    a.grad = d.row<const float>(0);
    a.grad_stride = d.stride;
    if (own)
      b.template elements<detail::own_grad_body>(a);
    else
      b.template elements<detail::pool_grad_body>(a);
  }
};

}}}  // namespace lamina::engine::cuda
