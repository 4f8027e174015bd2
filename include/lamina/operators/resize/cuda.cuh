// SPDX-License-Identifier: Apache-2.0
// lamina/operators/resize/cuda.cuh - the kernels of bilinear_interp and nearest_interp, which
// resize images. Each thread computes one element.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/channel_position.cuh>
#include <lamina/engine/cuda/body/recurrent_body.cuh>
#include <lamina/operators/resize/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// One dimension of the images: finds the position in the source image, between two elements, at
/// which an element of the result lies.
struct interpolated_side {
  int in, out;
  bool is_nearest, align;
  int mode;

  LAMINA_INLINE LAMINA_FN interpolation_position at(int k) const {
    return position_between(k, in, out, is_nearest, align, mode);
  }
  /// Returns the first element of the result whose position in the source is at or after element
  /// `low` of the source.
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
  /// Returns the weight of element h of the source in an element of the result at position p.
  static LAMINA_INLINE LAMINA_FN float share(const interpolation_position& p, int h) {
    return (p.low == h ? 1 - p.part : 0.0f) + (p.high == h ? p.part : 0.0f);
  }
};

/// Returns the linear interpolation (1 - part) * a + part * b, as on the CPU. If `part` is 0 or a
/// equals b, returns a, because the formula would give NaN if a or b is infinite.
LAMINA_INLINE LAMINA_FN float between(float a, float b, float part) {
  return part == 0 || a == b ? a : (1 - part) * a + part * b;
}

struct resize_arguments {
  row_array from, to;
  divider columns, plane, width;  // of the array whose elements threads compute
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
/// Computes the gradient of an element of the source: the weighted sum of the gradients of all
/// elements of the result that read it. A term with the weight 0 is skipped, because 0 times an
/// infinite gradient is NaN.
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

/// Returns the arguments of a kernel. `x` is the source or its gradient, `y` the result or its
/// gradient, and `each` the array whose elements the threads compute.
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
