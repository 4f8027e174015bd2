// SPDX-License-Identifier: Apache-2.0
// lamina/operators/resize/cuda.cuh - the kernels of bilinear_interp and nearest_interp, which
// resize images. Each thread computes one element.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/bound_kernel.cuh>
#include <lamina/engine/cuda/body/channel_position.cuh>
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
  static LAMINA_INLINE LAMINA_FN float weight(const interpolation_position& p, int h) {
    return (p.low == h ? 1 - p.fraction : 0.0f) + (p.high == h ? p.fraction : 0.0f);
  }
};

/// Returns the linear interpolation (1 - fraction) * a + fraction * b, as on the CPU. If `fraction`
/// is 0 or a equals b, returns a, because the formula would give NaN if a or b is infinite.
LAMINA_INLINE LAMINA_FN float between(float a, float b, float fraction) {
  return fraction == 0 || a == b ? a : (1 - fraction) * a + fraction * b;
}

/// `x` is the source or its gradient, `y` the result or its gradient.
template <bool Nearest>
struct resize_call : kernel_call {
  interpolated_side side(int d, const operand& x, const operand& y) const {
    return {x.dims[d], y.dims[d], Nearest, call->flag(3), integer(4)};
  }
};

template <bool Nearest>
struct resize_kernel : resize_call<Nearest> {
  using base = resize_call<Nearest>;
  row_array from = base::input(0), to = base::output(0);
  image_elements elements{base::output(0)};
  interpolated_side rows = base::side(2, base::input(0), base::output(0));
  interpolated_side columns = base::side(3, base::input(0), base::output(0));
  int count = elements.count;

  LAMINA_INLINE LAMINA_FN void run(int i) const {
    const auto e = elements[i];
    const interpolation_position v = rows.at(e.y), h = columns.at(e.x);
    const float* const image = from.row(e.row) + e.channel * rows.in * columns.in;
    const float *const u = image + v.low * columns.in, *const l = image + v.high * columns.in;
    const float above = between(u[h.low], u[h.high], h.fraction);
    const float below = between(l[h.low], l[h.high], h.fraction);
    to.row(e.row)[e.at] = Nearest ? u[h.low] : between(above, below, v.fraction);
  }
};
/// Each source element adds up the weighted gradients of all result elements that read it. A weight
/// of 0 adds nothing, even if the gradient is infinite.
template <bool Nearest>
struct resize_grad_kernel : resize_call<Nearest> {
  using base = resize_call<Nearest>;
  row_array d = base::input(1), dx = base::output(0);
  image_elements elements{base::output(0)};
  interpolated_side rows = base::side(2, base::output(0), base::input(1));
  interpolated_side columns = base::side(3, base::output(0), base::input(1));
  int count = elements.count;

  LAMINA_INLINE LAMINA_FN void run(int i) const {
    const auto e = elements[i];
    const float* const image = d.row(e.row) + e.channel * rows.out * columns.out;
    const int first = columns.first_from(e.x - 1);
    float sum = 0;
    for (int row = rows.first_from(e.y - 1); row < rows.out; ++row) {
      const interpolation_position v = rows.at(row);
      if (v.low > e.y) break;
      const float row_weight = interpolated_side::weight(v, e.y);
      if (row_weight == 0) continue;
      float of_row = 0;
      for (int column = first; column < columns.out; ++column) {
        const interpolation_position h = columns.at(column);
        if (h.low > e.x) break;
        if (const float weight = interpolated_side::weight(h, e.x); weight != 0)
          of_row += weight * image[row * columns.out + column];
      }
      sum += row_weight * of_row;
    }
    dx.row(e.row)[e.at] = sum;
  }
};

template <bool Nearest>
struct resize_call_kernel {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    require_float(c, c.input(0));
    if (c.input(1)) fail(c, {"expected a size that the program knows, found OutSize"});
    launch_elements<resize_kernel<Nearest>>(b, c);
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::bilinear_interp> : detail::resize_call_kernel<false> {};
template <>
struct call_kernel<gradient_of<operators::bilinear_interp>>
    : elements_call<detail::resize_grad_kernel<false>> {};
template <>
struct call_kernel<operators::nearest_interp> : detail::resize_call_kernel<true> {};
template <>
struct call_kernel<gradient_of<operators::nearest_interp>>
    : elements_call<detail::resize_grad_kernel<true>> {};

}}}  // namespace lamina::engine::cuda
