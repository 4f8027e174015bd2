// SPDX-License-Identifier: Apache-2.0
// lamina/operators/pool/pool2d/cuda.cuh - the kernels of pool2d, which pools the windows of images.
// Each thread computes one element.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/engine/cuda/body/bound_kernel.cuh>
#include <lamina/engine/cuda/body/channel_position.cuh>
#include <lamina/operators/pool/pool2d/common.hpp>
#include <lamina/operators/pool/pool2d/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

struct pool2d_kernel : kernel_call {
  row_array x = input(0), y = output(0);
  pool_windows w{*call, input(0), output(0)};
  image_elements elements{output(0)};
  int count = elements.count;

  LAMINA_INLINE LAMINA_FN void run(int i) const {
    const auto e = elements[i];
    const float* const from = x.row(e.row) + e.channel * w.in_size();
    const int top = w.height.first(e.y), bottom = w.height.end(e.y);
    const int left = w.width.first(e.x), right = w.width.end(e.x);
    float most = from[top * w.width.in + left], sum = 0;
    for (int v = top; v < bottom; ++v)
      for (int h = left; h < right; ++h) {
        const float value = from[v * w.width.in + h];
        most = math::maximum(most, value);
        sum += value;
      }
    y.row(e.row)[e.at] = w.is_average ? sum * w.weight(bottom - top, right - left) : most;
  }
};

/// Returns the first position in a window whose value is `best`, which may be NaN.
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
struct pool2d_grad_kernel : kernel_call {
  row_array x = input(0), y = input(1), d = input(2), dx = output(0);
  pool_windows w{*call, input(0), input(1)};
  image_elements elements{output(0)};
  int count = elements.count;

  LAMINA_INLINE LAMINA_FN void run(int i) const {
    const auto e = elements[i];
    const std::ptrdiff_t channel = e.channel * w.out_size();
    const float *const grad = d.row(e.row) + channel, *const best = y.row(e.row) + channel;
    const float* const from = x.row(e.row) + e.channel * w.in_size();
    float sum = 0;
    for (int v = w.height.first_window(e.y); v < w.height.out && w.height.first(v) <= e.y; ++v) {
      LAMINA_CUDA_KEEP_LOOP
      for (int h = w.width.first_window(e.x); h < w.width.out && w.width.first(h) <= e.x; ++h) {
        const int at = v * w.width.out + h;
        const int top = w.height.first(v), bottom = w.height.end(v);
        const int left = w.width.first(h), right = w.width.end(h);
        if (e.y >= bottom || e.x >= right) continue;
        if (w.is_average)
          sum += grad[at] * w.weight(bottom - top, right - left);
        else if (first_of(from, w.width.in, top, bottom, left, right, best[at]) ==
                 e.y * w.width.in + e.x)
          sum += grad[at];
      }
    }
    dx.row(e.row)[e.at] = sum;
  }
};

/// The gradient of windows that do not overlap: one thread per window writes the elements of its
/// window. Elements after the last windows get 0 from the threads of these windows.
struct own_grad_kernel : kernel_call {
  static constexpr int most_elements = 16;
  static bool receives(const pool_windows& w) {
    return w.lie_side_by_side() && w.height.size * w.width.size <= most_elements;
  }

  row_array x = input(0), y = input(1), d = input(2), dx = output(0);
  pool_windows w{*call, input(0), input(1)};
  image_elements elements{input(1)};
  int count = elements.count;

  LAMINA_INLINE LAMINA_FN void run(int i) const {
    const auto e = elements[i];
    const int top = w.height.first(e.y), bottom = w.height.end(e.y);
    const int left = w.width.first(e.x), right = w.width.end(e.x);
    const int last_row = e.y + 1 == w.height.out ? w.height.in : bottom;
    const int last_column = e.x + 1 == w.width.out ? w.width.in : right;
    const std::ptrdiff_t channel = e.channel * w.in_size();
    float* const to = dx.row(e.row) + channel;
    float grad = d.row(e.row)[e.at];
    int best = -1;
    if (w.is_average)
      grad *= w.weight(bottom - top, right - left);
    else
      best = first_of(x.row(e.row) + channel, w.width.in, top, bottom, left, right,
                      y.row(e.row)[e.at]);
    for (int v = top; v < last_row; ++v) {
      LAMINA_CUDA_KEEP_LOOP
      for (int h = left; h < last_column; ++h) {
        const int position = v * w.width.in + h;
        const bool receives = w.is_average ? v < bottom && h < right : position == best;
        to[position] = receives ? grad : 0.0f;
      }
    }
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::pool2d> : elements_call<detail::pool2d_kernel> {};

template <>
struct call_kernel<gradient_of<operators::pool2d>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    if (detail::own_grad_kernel::receives({c, c.input(0), c.input(1)}))
      launch_elements<detail::own_grad_kernel>(b, c);
    else
      launch_elements<detail::pool2d_grad_kernel>(b, c);
  }
};

}}}  // namespace lamina::engine::cuda
