// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region/patch/cuda.cuh - operators on windows of images: spp, im2sequence.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/engine/cuda/body/bound_kernel.cuh>
#include <lamina/engine/cuda/body/channel_position.cuh>
#include <lamina/engine/cuda/schedule/dynamic_sequences.hpp>
#include <lamina/operators/region/definition.hpp>
#include <lamina/operators/region/patch/common.hpp>
#include <lamina/operators/region/patch/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

struct spp_kernel : kernel_call {
  row_array x = input(0), y = output(0);
  pyramid of{*call, input(0)};
  divider columns{output(0).columns};
  int count = output(0).rows * output(0).columns;

  LAMINA_INLINE LAMINA_FN void run(int i) const {
    const int row = columns.divide(i);
    int at = i, level = 0;
    for (; at >= of.channels << 2 * level; ++level) at -= of.channels << 2 * level;
    const int windows = 1 << level, channel = at >> 2 * level;
    const image_range rows = pyramid_window(at >> level & (windows - 1), windows, of.height);
    const image_range side = pyramid_window(at & (windows - 1), windows, of.width);
    const float* const from = x.row(row) + channel * of.height * of.width;
    float sum = 0, most = from[rows.begin * of.width + side.begin];
    for (int v = rows.begin; v < rows.end; ++v)
      for (int h = side.begin; h < side.end; ++h) {
        const float value = from[v * of.width + h];
        sum += value;
        most = math::maximum(most, value);
      }
    y.row(row)[i] = of.average ? sum / pyramid::size<float>(rows, side) : most;
  }
};
/// The gradient of an image element. Each element is in one window per level; among several largest
/// elements of a window, the first one gets the gradient.
struct spp_grad_kernel : kernel_call {
  row_array x = input(0), y = input(1), d = input(2), dx = output(0);
  pyramid of{*call, input(0)};
  image_elements elements{output(0)};
  int count = elements.count;

  LAMINA_INLINE LAMINA_FN void run(int i) const {
    const auto to = elements[i];
    const float* const image = x.row(to.row) + to.channel * of.height * of.width;
    float sum = 0;
    for (int level = 0, begin = 0; level < of.levels; begin += of.channels << 2 * level, ++level) {
      const int windows = 1 << level;
      const int row = pyramid_window_of(to.y, windows, of.height);
      const int column = pyramid_window_of(to.x, windows, of.width);
      const int at = begin + (to.channel << 2 * level) + (row << level) + column;
      const image_range rows = pyramid_window(row, windows, of.height);
      const image_range side = pyramid_window(column, windows, of.width);
      const float grad = d.row(to.row)[at];
      if (of.average)
        sum += grad / pyramid::size<float>(rows, side);
      else if (is_first(image, of.width, y.row(to.row)[at], rows, side, to.y, to.x))
        sum += grad;
    }
    dx.row(to.row)[to.at] = sum;
  }

 private:
  static LAMINA_INLINE LAMINA_FN bool is_first(const float* plane, int width, float most,
                                               image_range rows, image_range columns, int y,
                                               int x) {
    if (!math::is_same(plane[y * width + x], most)) return false;
    for (int v = rows.begin; v <= y; ++v)
      for (int h = columns.begin; h < (v < y ? columns.end : x); ++h)
        if (math::is_same(plane[v * width + h], most)) return false;
    return true;
  }
};

struct im2sequence_kernel : kernel_call {
  row_array image = input(0), patches = output(0);
  patch_grid grid{*call, input(0)};
  divider columns{output(0).columns}, plane{grid.kernel[0] * grid.kernel[1]};
  divider width{grid.kernel[1]};                          // of a window
  divider windows{grid.windows()}, across{grid.columns};  // per image; per row of windows
  int count = output(0).rows * output(0).columns;

  LAMINA_INLINE LAMINA_FN void run(int i) const {
    const channel_position to(columns, plane, i);
    int window = to.row, h = to.inside;
    const int from = windows.divide(window);
    const int row = across.divide(window), inside = width.divide(h);
    const int v = row * grid.stride[0] - grid.padding[0] + inside;
    h += window * grid.stride[1] - grid.padding[1];
    const bool there = v >= 0 && v < grid.height && h >= 0 && h < grid.width;
    patches.row(to.row)[to.at] =
        there ? image.row(from)[(to.channel * grid.height + v) * grid.width + h] : 0.0f;
  }
};
/// Each element of an image adds up the gradients of all windows that contain it.
struct im2sequence_grad_kernel : kernel_call {
  row_array d = input(1), dx = output(0);
  patch_grid grid{*call, output(0)};
  image_elements elements{output(0)};
  int count = elements.count;

  LAMINA_INLINE LAMINA_FN void run(int i) const {
    const patch_grid& g = grid;
    const auto to = elements[i];
    const int below = to.y + g.padding[0], right = to.x + g.padding[1];
    const int first = to.channel * g.kernel[0] * g.kernel[1];
    float sum = 0;
    for (int row = first_window(below, g.kernel[0], g.stride[0]);
         row < g.rows && row * g.stride[0] <= below; ++row)
      for (int column = first_window(right, g.kernel[1], g.stride[1]);
           column < g.columns && column * g.stride[1] <= right; ++column)
        sum += d.row(to.row * g.rows * g.columns + row * g.columns +
                     column)[first + (below - row * g.stride[0]) * g.kernel[1] + right -
                             column * g.stride[1]];
    dx.row(to.row)[to.at] = sum;
  }

 private:
  static LAMINA_INLINE LAMINA_FN int first_window(int at, int kernel, int stride) {
    return at < kernel ? 0 : (at - kernel) / stride + 1;
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::spp> : elements_call<detail::spp_kernel> {};
template <>
struct call_kernel<gradient_of<operators::spp>> : elements_call<detail::spp_grad_kernel> {};

/// The host knows the lengths of all sequences without reading from the device.
template <>
struct call_kernel<operators::im2sequence> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0);
    require_float(c, x);
    const patch_grid grid(c, x);
    make_sequences(host_rows(c), c.output(0).domain, x.rows, [&](int) { return grid.windows(); });
    launch_elements<detail::im2sequence_kernel>(b, c);
  }
};
template <>
struct call_kernel<gradient_of<operators::im2sequence>>
    : elements_call<detail::im2sequence_grad_kernel> {};

}}}  // namespace lamina::engine::cuda
