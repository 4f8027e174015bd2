// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/conv_kernels.hpp - conv2d, depthwise_conv2d, conv3d, conv2d_transpose.
#pragma once

#include <algorithm>

#include <lamina/engine/cpu/conv_backward.hpp>
#include <lamina/engine/cpu/conv_filter_gradient.hpp>
#include <lamina/engine/cpu/conv_group.hpp>
#include <lamina/engine/cpu/row_math.hpp>
#include <lamina/operators/conv.hpp>
#include <lamina/plan/image_operators.hpp>

namespace lamina::engine::cpu {

namespace detail {

/// A vector of one number a channel, without the gaps that its rows may have.
inline const float* channel_numbers(const operand& o) { return static_cast<const float*>(o.data); }

/// sums[c] = the sum of all elements of channel c.
template <class Real>
inline void add_channels(const operand& d, int channels, Real* sums) {
  const int size = channels > 0 ? d.columns / channels : 0;
  std::fill_n(sums, channels, Real(0));
  for (int r = 0; r < d.rows; ++r)
    for (int c = 0; c < channels; ++c)
      sums[c] += row_sum(d.row<const Real>(r) + static_cast<std::ptrdiff_t>(c) * size, size);
}

struct conv_kernel {
  static constexpr bool convolves = true;  // may take the special ways of conv_methods
  static void run(const call_context& c) {
    const operand x = c.input(0), w = c.input(1), bias = c.input(2), residual = c.input(3);
    const operand y = c.output(0);
    require_float(c, x);
    const conv_shape s(c, x, y, w, conv_attributes);
    conv_forward(s, c.run().convolutions)
        .run(x.rows, images(x), w.row<const float>(0), w.stride,
             bias ? channel_numbers(bias) : nullptr, images(y), c.scratch(), {}, c.run().filters);
    if (!residual) return;
    for (int r = 0; r < y.rows; ++r) {
      float* const to = y.row<float>(r);
      const float* const from = residual.row<const float>(r);
      for_each_place(y.columns, [=](std::ptrdiff_t j, auto like) {
        store(to + j, load(to + j, like) + load(from + j, like));
      });
    }
  }
  static std::ptrdiff_t scratch(const call_context& c) {
    const operand x = c.input(0);
    return conv_forward(conv_shape(c, x, c.output(0), c.input(1), conv_attributes),
                        c.run().convolutions)
        .scratch(x.rows);
  }
};

struct conv_gradient_kernel {
  static constexpr bool convolves = true;
  static void run(const call_context& c) {
    const operand x = c.input(0), w = c.input(1), d = c.input(4);
    const operand dx = c.output(0), dw = c.output(1), dbias = c.output(2), dresidual = c.output(3);
    const conv_shape s(c, x, d, w, conv_attributes);
    if (dx)
      conv_backward(s, c.run().convolutions)
          .run(d.rows, images(d), w.row<const float>(0), w.stride, nullptr, images(dx),
               c.scratch());
    if (dw) {
      clear(dw);
      conv_filter_gradient(s, c.run().convolutions)
          .run(x.rows, images(x), images(d), dw.row<float>(0), dw.stride, c.scratch());
    }
    if (dbias) add_channels(d, s.groups * s.small_channels, dbias.row<float>(0));
    if (dresidual) copy_elements(d, dresidual);
  }
  static std::ptrdiff_t scratch(const call_context& c) {
    const operand x = c.input(0);
    const conv_shape s(c, x, c.input(4), c.input(1), conv_attributes);
    return std::max(conv_backward(s, c.run().convolutions).scratch(x.rows),
                    conv_filter_gradient(s, c.run().convolutions).scratch(x.rows));
  }
};

}  // namespace detail

template <>
struct call_kernel<conv2d> : detail::conv_kernel {};
template <>
struct call_kernel<gradient_of<conv2d>> : detail::conv_gradient_kernel {};
template <>
struct call_kernel<depthwise_conv2d> : detail::conv_kernel {};
template <>
struct call_kernel<gradient_of<depthwise_conv2d>> : detail::conv_gradient_kernel {};
template <>
struct call_kernel<conv3d> : detail::conv_kernel {};
template <>
struct call_kernel<gradient_of<conv3d>> : detail::conv_gradient_kernel {};

template <>
struct call_kernel<conv_filter_gradient_sum> {
  static constexpr bool convolves = true;
  template <class = void>
  static void run(const call_context& c) {
    const operand x = c.input(0), d = c.input(1), dw = c.output(0);
    clear(dw);
    conv_filter_gradient(conv_shape(c, x, d, dw, conv_attributes), c.run().convolutions)
        .run(x.rows, detail::images(x), detail::images(d), dw.row<float>(0), dw.stride,
             c.scratch());
  }
  template <class = void>
  static std::ptrdiff_t scratch(const call_context& c) {
    const operand x = c.input(0);
    const conv_shape s(c, x, c.input(1), c.output(0), conv_attributes);
    return conv_filter_gradient(s, c.run().convolutions).scratch(x.rows);
  }
};

template <>
struct call_kernel<channel_sums> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand d = c.input(0), sums = c.output(0);
    detail::add_channels(d, sums.columns, sums.row<Real>(0));
  }
};

template <>
struct call_kernel<conv2d_transpose> {
  static constexpr bool convolves = true;
  template <class = void>
  static void run(const call_context& c) {
    const operand x = c.input(0), w = c.input(1), bias = c.input(2), y = c.output(0);
    require_float(c, x);
    const conv_shape s(c, y, x, w, conv_transpose_attributes);
    conv_backward(s, c.run().convolutions)
        .run(x.rows, detail::images(x), w.row<const float>(0), w.stride,
             bias ? detail::channel_numbers(bias) : nullptr, detail::images(y), c.scratch());
  }
  template <class = void>
  static std::ptrdiff_t scratch(const call_context& c) {
    const operand x = c.input(0);
    return conv_backward(conv_shape(c, c.output(0), x, c.input(1), conv_transpose_attributes),
                         c.run().convolutions)
        .scratch(x.rows);
  }
};

template <>
struct call_kernel<gradient_of<conv2d_transpose>> {
  static constexpr bool convolves = true;
  template <class = void>
  static void run(const call_context& c) {
    const operand x = c.input(0), w = c.input(1), d = c.input(3);
    const operand dx = c.output(0), dw = c.output(1), dbias = c.output(2);
    const conv_shape s(c, d, x, w, conv_transpose_attributes);
    if (dx)
      conv_forward(s, c.run().convolutions)
          .run(d.rows, detail::images(d), w.row<const float>(0), w.stride, nullptr,
               detail::images(dx), c.scratch());
    if (dw) {
      clear(dw);
      conv_filter_gradient(s, c.run().convolutions)
          .run(x.rows, detail::images(d), detail::images(x), dw.row<float>(0), dw.stride,
               c.scratch());
    }
    if (dbias) detail::add_channels(d, s.groups * s.large_channels, dbias.row<float>(0));
  }
  template <class = void>
  static std::ptrdiff_t scratch(const call_context& c) {
    const operand x = c.input(0);
    const conv_shape s(c, c.input(3), x, c.input(1), conv_transpose_attributes);
    return std::max(conv_forward(s, c.run().convolutions).scratch(x.rows),
                    conv_filter_gradient(s, c.run().convolutions).scratch(x.rows));
  }
};

}  // namespace lamina::engine::cpu
