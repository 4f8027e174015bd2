// SPDX-License-Identifier: Apache-2.0
// lamina/operators/conv/cpu.hpp - the kernels of conv2d, depthwise_conv2d, conv3d and
// conv2d_transpose.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <type_traits>

#include <lamina/engine/cpu/conv/conv_backward.hpp>
#include <lamina/engine/cpu/conv/conv_filter_gradient.hpp>
#include <lamina/engine/cpu/conv/conv_group.hpp>
#include <lamina/engine/cpu/conv/unrolled_conv.hpp>
#include <lamina/engine/cpu/vector/long_sums.hpp>
#include <lamina/operators/conv/definition.hpp>
#include <lamina/plan/image_operators.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

/// Returns the elements of a vector with one number per channel. Its memory has no padding.
template <class Real = float>
const Real* channel_numbers(const operand& o) {
  return static_cast<const Real*>(o.data);
}

template <class Real>
inline constexpr bool is_float = std::is_same_v<Real, float>;

struct conv_kernel {
  static constexpr bool convolves = true;  // the special algorithms of conv_methods may be used
  template <class Real = float>
  static void run(const call_context& c) {
    const operand x = c.input(0), w = c.input(1), bias = c.input(2), residual = c.input(3);
    const operand y = c.output(0);
    require_real<Real>(c, x);
    const conv_shape s(c, x, y, w, conv_attributes);
    const Real* const shift = bias ? channel_numbers<Real>(bias) : nullptr;
    if constexpr (is_float<Real>)
      conv_forward(s, c.run().convolutions)
          .run(x.rows, images(x), w.row<const float>(0), w.stride, shift, images(y), c.scratch(),
               {}, c.run().filters);
    else
      unrolled_conv<Real>(s).forward(x, w, shift, y, c.scratch());
    if (!residual) return;
    for (int r = 0; r < y.rows; ++r) {
      Real* const to = y.row<Real>(r);
      const Real* const from = residual.row<const Real>(r);
      for_each_position<Real>(y.columns, [=](std::ptrdiff_t j, auto like) {
        store(to + j, load(to + j, like) + load(from + j, like));
      });
    }
  }
  template <class Real = float>
  static std::ptrdiff_t scratch(const call_context& c) {
    const operand x = c.input(0);
    const conv_shape s(c, x, c.output(0), c.input(1), conv_attributes);
    if constexpr (is_float<Real>)
      return conv_forward(s, c.run().convolutions).scratch(x.rows);
    else
      return unrolled_conv<Real>(s).scratch();
  }
};

struct conv_gradient_kernel {
  static constexpr bool convolves = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand x = c.input(0), w = c.input(1), d = c.input(4);
    const operand dx = c.output(0), dw = c.output(1), dbias = c.output(2), dresidual = c.output(3);
    const conv_shape s(c, x, d, w, conv_attributes);
    if (dw) clear(dw);
    if constexpr (is_float<Real>) {
      if (dx)
        conv_backward(s, c.run().convolutions)
            .run(d.rows, images(d), w.row<const float>(0), w.stride, nullptr, images(dx),
                 c.scratch());
      if (dw)
        conv_filter_gradient(s, c.run().convolutions)
            .run(x.rows, images(x), images(d), dw.row<float>(0), dw.stride, c.scratch());
    } else {
      const unrolled_conv<Real> unrolled(s);
      if (dx) unrolled.backward(d, w, nullptr, dx, c.scratch());
      if (dw) unrolled.add_filter_gradient(x, d, dw, c.scratch());
    }
    if (dbias) add_channels(d, s.groups * s.small_channels, dbias.row<Real>(0));
    if (dresidual) copy_elements(d, dresidual);
  }
  template <class Real = float>
  static std::ptrdiff_t scratch(const call_context& c) {
    const operand x = c.input(0);
    const conv_shape s(c, x, c.input(4), c.input(1), conv_attributes);
    if constexpr (is_float<Real>)
      return (std::max)(conv_backward(s, c.run().convolutions).scratch(x.rows),
                        conv_filter_gradient(s, c.run().convolutions).scratch(x.rows));
    else
      return unrolled_conv<Real>(s).scratch();
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::conv2d> : detail::conv_kernel {};
template <>
struct call_kernel<gradient_of<operators::conv2d>> : detail::conv_gradient_kernel {};
template <>
struct call_kernel<operators::depthwise_conv2d> : detail::conv_kernel {};
template <>
struct call_kernel<gradient_of<operators::depthwise_conv2d>> : detail::conv_gradient_kernel {};
template <>
struct call_kernel<operators::conv3d> : detail::conv_kernel {};
template <>
struct call_kernel<gradient_of<operators::conv3d>> : detail::conv_gradient_kernel {};

template <>
struct call_kernel<operators::conv_filter_gradient_sum> {
  static constexpr bool convolves = true;
  template <int = 0>  // compiled where it is called
  static void run(const call_context& c) {
    const operand x = c.input(0), d = c.input(1), dw = c.output(0);
    clear(dw);
    conv_filter_gradient(conv_shape(c, x, d, dw, conv_attributes), c.run().convolutions)
        .run(x.rows, detail::images(x), detail::images(d), dw.row<float>(0), dw.stride,
             c.scratch());
  }
  template <int = 0>  // compiled where it is called
  static std::ptrdiff_t scratch(const call_context& c) {
    const operand x = c.input(0);
    const conv_shape s(c, x, c.input(1), c.output(0), conv_attributes);
    return conv_filter_gradient(s, c.run().convolutions).scratch(x.rows);
  }
};

template <>
struct call_kernel<operators::channel_sums> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::conv2d_transpose> {
  static constexpr bool convolves = true;
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::conv2d_transpose>> {
  static constexpr bool convolves = true;
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::channel_sums>::run(const call_context& c) {
  const operand d = c.input(0), sums = c.output(0);
  detail::add_channels(d, sums.columns, sums.row<Real>(0));
}
LAMINA_INSTANCE(void call_kernel<operators::channel_sums>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::channel_sums>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::conv2d_transpose>::run(const call_context& c) {
  const operand x = c.input(0), w = c.input(1), bias = c.input(2), y = c.output(0);
  require_real<Real>(c, x);
  const conv_shape s(c, y, x, w, conv_transpose_attributes);
  const Real* const shift = bias ? detail::channel_numbers<Real>(bias) : nullptr;
  if constexpr (detail::is_float<Real>)
    conv_backward(s, c.run().convolutions)
        .run(x.rows, detail::images(x), w.row<const float>(0), w.stride, shift, detail::images(y),
             c.scratch());
  else
    unrolled_conv<Real>(s).backward(x, w, shift, y, c.scratch());
}
LAMINA_INSTANCE(void call_kernel<operators::conv2d_transpose>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::conv2d_transpose>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<operators::conv2d_transpose>::scratch(const call_context& c) {
  const operand x = c.input(0);
  const conv_shape s(c, c.output(0), x, c.input(1), conv_transpose_attributes);
  if constexpr (detail::is_float<Real>)
    return conv_backward(s, c.run().convolutions).scratch(x.rows);
  else
    return unrolled_conv<Real>(s).scratch();
}
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<operators::conv2d_transpose>::scratch<float>(const call_context&))
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<operators::conv2d_transpose>::scratch<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::conv2d_transpose>>::run(const call_context& c) {
  const operand x = c.input(0), w = c.input(1), d = c.input(3);
  const operand dx = c.output(0), dw = c.output(1), dbias = c.output(2);
  const conv_shape s(c, d, x, w, conv_transpose_attributes);
  if (dw) clear(dw);
  if constexpr (detail::is_float<Real>) {
    if (dx)
      conv_forward(s, c.run().convolutions)
          .run(d.rows, detail::images(d), w.row<const float>(0), w.stride, nullptr,
               detail::images(dx), c.scratch());
    if (dw)
      conv_filter_gradient(s, c.run().convolutions)
          .run(x.rows, detail::images(d), detail::images(x), dw.row<float>(0), dw.stride,
               c.scratch());
  } else {
    const unrolled_conv<Real> unrolled(s);
    if (dx) unrolled.forward(d, w, nullptr, dx, c.scratch());
    if (dw) unrolled.add_filter_gradient(d, x, dw, c.scratch());
  }
  if (dbias) detail::add_channels(d, s.groups * s.large_channels, dbias.row<Real>(0));
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::conv2d_transpose>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::conv2d_transpose>>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<gradient_of<operators::conv2d_transpose>>::scratch(
    const call_context& c) {
  const operand x = c.input(0);
  const conv_shape s(c, c.input(3), x, c.input(1), conv_transpose_attributes);
  if constexpr (detail::is_float<Real>)
    return (std::max)(conv_forward(s, c.run().convolutions).scratch(x.rows),
                      conv_filter_gradient(s, c.run().convolutions).scratch(x.rows));
  else
    return unrolled_conv<Real>(s).scratch();
}
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<gradient_of<operators::conv2d_transpose>>::scratch<float>(
        const call_context&))
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<gradient_of<operators::conv2d_transpose>>::scratch<double>(
        const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
