// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region/patch/cuda.cuh - operators on windows of images: spp, im2sequence.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/engine/cuda/body/channel_position.cuh>
#include <lamina/engine/cuda/body/recurrent_body.cuh>
#include <lamina/engine/cuda/schedule/dynamic_sequences.hpp>
#include <lamina/operators/region/definition.hpp>
#include <lamina/operators/region/patch/common.hpp>
#include <lamina/operators/region/patch/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

struct pyramid_arguments {
  row_array x, y, d, dx;
  divider columns, plane, width;  // sizes of the array with one thread per element
  int levels, channels, down, over;
  bool average;
  int count;

  static LAMINA_INLINE LAMINA_FN float size(image_range rows, image_range columns) {
    return static_cast<float>((rows.end - rows.begin) * (columns.end - columns.begin));
  }
};
struct pyramid_body {
  using arguments = pyramid_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const int row = a.columns.divide(i);
    int at = i, level = 0;
    for (; at >= a.channels << 2 * level; ++level) at -= a.channels << 2 * level;
    const int windows = 1 << level, channel = at >> 2 * level;
    const image_range rows = pyramid_window(at >> level & (windows - 1), windows, a.down);
    const image_range columns = pyramid_window(at & (windows - 1), windows, a.over);
    const float* const from = a.x.row(row) + channel * a.down * a.over;
    float sum = 0, most = from[rows.begin * a.over + columns.begin];
    for (int v = rows.begin; v < rows.end; ++v)
      for (int h = columns.begin; h < columns.end; ++h) {
        const float value = from[v * a.over + h];
        sum += value;
        most = math::maximum(most, value);
      }
    a.y.row(row)[i] = a.average ? sum / arguments::size(rows, columns) : most;
  }
};
/// The gradient of an image element. Each element is in one window per level; among several largest
/// elements of a window, the first one gets the gradient.
struct pyramid_grad_body {
  using arguments = pyramid_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const channel_position to(a.columns, a.plane, i);
    int x = to.inside;
    const int y = a.width.divide(x);
    const float* const plane = a.x.row(to.row) + to.channel * a.down * a.over;
    float sum = 0;
    for (int level = 0, begin = 0; level < a.levels; begin += a.channels << 2 * level, ++level) {
      const int windows = 1 << level;
      const int row = pyramid_window_of(y, windows, a.down);
      const int column = pyramid_window_of(x, windows, a.over);
      const int at = begin + (to.channel << 2 * level) + (row << level) + column;
      const image_range rows = pyramid_window(row, windows, a.down);
      const image_range columns = pyramid_window(column, windows, a.over);
      const float grad = a.d.row(to.row)[at];
      if (a.average)
        sum += grad / arguments::size(rows, columns);
      else if (is_first(plane, a.over, a.y.row(to.row)[at], rows, columns, y, x))
        sum += grad;
    }
    a.dx.row(to.row)[to.at] = sum;
  }

 private:
  static LAMINA_INLINE LAMINA_FN bool is_first(const float* plane, int over, float most,
                                               image_range rows, image_range columns, int y,
                                               int x) {
    if (!math::is_same(plane[y * over + x], most)) return false;
    for (int v = rows.begin; v <= y; ++v)
      for (int h = columns.begin; h < (v < y ? columns.end : x); ++h)
        if (math::is_same(plane[v * over + h], most)) return false;
    return true;
  }
};

inline pyramid_arguments pyramid_of(const call_context& c, const operand& x, const operand& each) {
  const std::string_view type = text_of(c, 1);
  if (type != "max" && type != "avg")
    fail(c, {"expected a pooling_type 'max' or 'avg', found '", type, "'"});
  pyramid_arguments a{};
  a.levels = c.integer(0);
  if (a.levels < 1) fail(c, {"expected a positive pyramid_height, found ", a.levels});
  a.x = x;
  a.columns = divider(each.columns);
  a.plane = divider(x.dims[2] * x.dims[3]);
  a.width = divider(x.dims[3]);
  a.channels = x.dims[1], a.down = x.dims[2], a.over = x.dims[3];
  a.average = type == "avg";
  a.count = each.rows * each.columns;
  return a;
}

struct patch_arguments {
  row_array image, patches;
  divider columns, plane, width;  // sizes of the array with one thread per element
  divider windows, across;        // windows per image; windows per row of windows
  patch_grid grid;
  int count;
};
struct patch_body {
  using arguments = patch_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const patch_grid& g = a.grid;
    const channel_position to(a.columns, a.plane, i);
    int window = to.row, h = to.inside;
    const int image = a.windows.divide(window);
    const int row = a.across.divide(window), inside = a.width.divide(h);
    const int v = row * g.stride[0] - g.padding[0] + inside;
    h += window * g.stride[1] - g.padding[1];
    const bool there = v >= 0 && v < g.height && h >= 0 && h < g.width;
    a.patches.row(to.row)[to.at] =
        there ? a.image.row(image)[(to.channel * g.height + v) * g.width + h] : 0.0f;
  }
};
/// Each element of an image adds up the gradients of all windows that contain it.
struct patch_grad_body {
  using arguments = patch_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const patch_grid& g = a.grid;
    const channel_position to(a.columns, a.plane, i);
    int x = to.inside;
    const int y = a.width.divide(x), below = y + g.padding[0], right = x + g.padding[1];
    const int first = to.channel * g.kernel[0] * g.kernel[1];
    float sum = 0;
    for (int row = first_window(below, g.kernel[0], g.stride[0]);
         row < g.rows && row * g.stride[0] <= below; ++row)
      for (int column = first_window(right, g.kernel[1], g.stride[1]);
           column < g.columns && column * g.stride[1] <= right; ++column)
        sum += a.patches.row(to.row * g.rows * g.columns + row * g.columns +
                             column)[first + (below - row * g.stride[0]) * g.kernel[1] + right -
                                     column * g.stride[1]];
    a.image.row(to.row)[to.at] = sum;
  }

 private:
  static LAMINA_INLINE LAMINA_FN int first_window(int at, int kernel, int stride) {
    return at < kernel ? 0 : (at - kernel) / stride + 1;
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::spp> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), y = c.output(0);
    require_float(c, x);
    auto a = detail::pyramid_of(c, x, y);
    a.y = y;
    b.template elements<detail::pyramid_body>(a);
  }
};
template <>
struct call_kernel<gradient_of<operators::spp>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand dx = c.output(0);
    if (!dx) return;
    auto a = detail::pyramid_of(c, c.input(0), dx);
    a.y = c.input(1), a.d = c.input(2), a.dx = dx;
    b.template elements<detail::pyramid_grad_body>(a);
  }
};

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
    const operand y = c.output(0);
    if (y)
      b.template elements<detail::patch_body>({x, y, divider(y.columns),
                                               divider(grid.kernel[0] * grid.kernel[1]),
                                               divider(grid.kernel[1]), divider(grid.windows()),
                                               divider(grid.columns), grid, y.rows * y.columns});
  }
};
template <>
struct call_kernel<gradient_of<operators::im2sequence>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand d = c.input(1), dx = c.output(0);
    if (!dx) return;
    const patch_grid grid(c, dx);
    b.template elements<detail::patch_grad_body>(
        {dx, d, divider(dx.columns), divider(dx.dims[2] * dx.dims[3]), divider(dx.dims[3]),
         divider(grid.windows()), divider(grid.columns), grid, dx.rows * dx.columns});
  }
};

}}}  // namespace lamina::engine::cuda
