// SPDX-License-Identifier: Apache-2.0
// lamina/operators/resize/cuda.cuh - resizing of images, one thread per element: bilinear_interp,
// nearest_interp.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/channel_position.cuh>
#include <lamina/engine/cuda/body/recurrent_body.cuh>
#include <lamina/operators/resize/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// One dimension of the images: maps elements of the result to positions between source elements.
struct interpolated_side {
  int in, out;
  bool is_nearest, align;
  int mode;

  LAMINA_INLINE LAMINA_FN interpolation_position at(int k) const {
    return position_between(k, in, out, is_nearest, align, mode);
  }
  /// The first result element whose source position is at or after source element `low`.
  LAMINA_INLINE LAMINA_FN int first_from(int low) const {
    int begin = 0, end = out;
    while (begin < end) {
      const int middle = (begin + end) / 2;
      if (at(middle).low < low)
        begin = middle + 1;
      else
        end = middle;
    }
    return begin;
  }
  /// The weight of source element h in the result element at position p.
  static LAMINA_INLINE LAMINA_FN float share(const interpolation_position& p, int h) {
    return (p.low == h ? 1 - p.part : 0.0f) + (p.high == h ? p.part : 0.0f);
  }
};

/// Linear interpolation, as on the CPU: (1 - part) * a + part * b. If `part` is 0 or a equals b,
/// the result is a, so that an infinity does not become NaN.
LAMINA_INLINE LAMINA_FN float between(float a, float b, float part) {
  return part == 0 || a == b ? a : (1 - part) * a + part * b;
}

struct resize_arguments {
  row_array from, to;
  divider columns, plane, width;  // sizes of the array with one thread per element
  interpolated_side rows, lines;
  int count;
};

struct resize_body {
  using arguments = resize_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const channel_position to(a.columns, a.plane, i);
    int k = to.inside;
    const int y = a.width.divide(k);
    const interpolation_position v = a.rows.at(y), h = a.lines.at(k);
    const float* const image = a.from.row(to.row) + to.channel * a.rows.in * a.lines.in;
    const float *const u = image + v.low * a.lines.in, *const l = image + v.high * a.lines.in;
    const float above = between(u[h.low], u[h.high], h.part);
    const float below = between(l[h.low], l[h.high], h.part);
    a.to.row(to.row)[to.at] = a.rows.is_nearest ? u[h.low] : between(above, below, v.part);
  }
};
/// Each source element adds up the weighted gradients of all result elements that read it. A weight
/// of 0 adds nothing, even if the gradient is infinite.
struct resize_grad_body {
  using arguments = resize_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const channel_position to(a.columns, a.plane, i);
    int k = to.inside;
    const int y = a.width.divide(k);
    const float* const image = a.from.row(to.row) + to.channel * a.rows.out * a.lines.out;
    const int first = a.lines.first_from(k - 1);
    float sum = 0;
    for (int row = a.rows.first_from(y - 1); row < a.rows.out; ++row) {
      const interpolation_position v = a.rows.at(row);
      if (v.low > y) break;
      const float share = interpolated_side::share(v, y);
      if (share == 0) continue;
      float of_row = 0;
      for (int column = first; column < a.lines.out; ++column) {
        const interpolation_position h = a.lines.at(column);
        if (h.low > k) break;
        if (const float part = interpolated_side::share(h, k); part != 0)
          of_row += part * image[row * a.lines.out + column];
      }
      sum += share * of_row;
    }
    a.to.row(to.row)[to.at] = sum;
  }
};

/// `x` is the source or its gradient, `y` the result or its gradient, and `each` the array that has
/// one thread per element.
template <bool Nearest>
resize_arguments resize_of(const call_context& c, const operand& x, const operand& y,
                           const operand& each) {
  require_float(c, x);
  resize_arguments a{};
  a.columns = divider(each.columns);
  a.plane = divider(each.dims[2] * each.dims[3]);
  a.width = divider(each.dims[3]);
  a.rows = {x.dims[2], y.dims[2], Nearest, c.flag(3), c.integer(4)};
  a.lines = {x.dims[3], y.dims[3], Nearest, c.flag(3), c.integer(4)};
  a.count = each.rows * each.columns;
  return a;
}

template <bool Nearest>
struct resize_kernel {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), y = c.output(0);
    if (c.input(1)) fail(c, {"expected a size that the program knows, found OutSize"});
    auto a = resize_of<Nearest>(c, x, y, y);
    a.from = x;
    a.to = y;
    b.template elements<resize_body>(a);
  }
};
template <bool Nearest>
struct resize_gradient_kernel {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand d = c.input(1), dx = c.output(0);
    if (!dx) return;
    auto a = resize_of<Nearest>(c, dx, d, dx);
    a.from = d;
    a.to = dx;
    b.template elements<resize_grad_body>(a);
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::bilinear_interp> : detail::resize_kernel<false> {};
template <>
struct call_kernel<gradient_of<operators::bilinear_interp>>
    : detail::resize_gradient_kernel<false> {};
template <>
struct call_kernel<operators::nearest_interp> : detail::resize_kernel<true> {};
template <>
struct call_kernel<gradient_of<operators::nearest_interp>> : detail::resize_gradient_kernel<true> {
};

}}}  // namespace lamina::engine::cuda
