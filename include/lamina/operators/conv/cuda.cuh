// SPDX-License-Identifier: Apache-2.0
// lamina/operators/conv/cuda.cuh - convolutions and their gradients: groups whose head is one,
// the gradient of the filters, conv2d_transpose.
#pragma once

#include <lamina/engine/cuda/schedule/call_site.hpp>
#include <lamina/engine/cuda/body/channel_sums.cuh>
#include <lamina/engine/cuda/body/conv_body.cuh>
#include <lamina/engine/cuda/schedule/launch_group.hpp>
#include <lamina/operators/conv/definition.hpp>
#include <lamina/plan/image_operators.hpp>
#include <lamina/plan/plan_operators.hpp>

namespace lamina::engine::cuda {

namespace detail {

/// A group whose head is a convolution.
template <conv_kind Kind, class S>
struct conv_launch {
  static constexpr bool exists = true;
  template <class Backend>
  static void run(Backend& b, const call_site& c) {
    using body = conv_body<Kind, S, typename Backend::product_tile>;
    auto g = arguments_of<body>(c);
    const operand from = c.at_position(0), w = c.at_position(1);
    // A group has no argument for a result that is not stored: its dimensions are given by place.
    operand to = from;
    to.columns = c.group.columns;
    to.dims = c.program().dims + c.group.depth;
    const bool forward = Kind == conv_kind::forward;
    g.left_stride = from.stride;
    g.right_stride = w.stride;
    g.conv = conv_geometry({c, forward ? from : to, forward ? to : from, w, conv_attributes});
    b.template teams<body>(g);
  }
};

/// The head alone, stored in argument 2.
using keep_head = expression::statements<expression::let<keep, 0, 2, expression::head_value>>;

/// A convolution that is no head: images `to` from images `from`.
template <conv_kind Kind, class Backend>
void convolve(Backend& b, const conv_shape& s, const operand& from, const operand& filter,
              const operand& to) {
  using body = conv_body<Kind, keep_head, typename Backend::product_tile>;
  typename body::arguments g{};
  g.of[0] = from.row<float>(0);
  g.of[1] = filter.row<float>(0);
  g.of[2] = to.row<float>(0);
  g.rows = to.rows;
  g.columns = to.columns;
  g.width = static_cast<int>(to.stride);
  g.left_stride = from.stride;
  g.right_stride = filter.stride;
  g.channels = 1;
  g.conv = conv_geometry(s);
  b.template teams<body>(g);
}

/// The gradient of the filters `to` from large and small images.
template <class Backend>
void filter_gradient(Backend& b, const conv_shape& s, const operand& large, const operand& small,
                     const operand& to) {
  conv_filter_arguments g{};
  g.large = large.row<const float>(0);
  g.small = small.row<const float>(0);
  g.to = to.row<float>(0);
  g.large_stride = large.stride;
  g.small_stride = small.stride;
  g.to_stride = to.stride;
  g.conv = conv_geometry(s);
  g.rows = large.rows;
  b.template teams<conv_filter_body<typename Backend::product_tile>>(g);
}

/// One number for each channel of an image is added to all of its elements.
struct channel_add_body {
  struct arguments {
    float* to;
    const float* numbers;
    std::ptrdiff_t stride;
    divider columns, channel_size;
    int count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, int i) {
    int column = i;
    const int row = g.columns.divide(column);
    g.to[row * g.stride + column] += g.numbers[g.channel_size.quotient(column)];
  }
};

}  // namespace detail

template <class S>
struct group_launch<expression::group_expression<group_head::conv, S>>
    : detail::conv_launch<conv_kind::forward, S> {};
template <class S>
struct group_launch<expression::group_expression<group_head::conv_dx, S>>
    : detail::conv_launch<conv_kind::spread, S> {};

template <>
struct call_kernel<conv_filter_gradient_sum> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    const operand x = c.input(0), d = c.input(1), dw = c.output(0);
    detail::filter_gradient(b, conv_shape(c, x, d, dw, conv_attributes), x, d, dw);
  }
};

/// Out[c] = the sum of channel c.
template <>
struct call_kernel<channel_sums> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    add_channels(b, c.input(0), c.output(0));
  }
};

template <>
struct call_kernel<conv2d_transpose> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    const operand x = c.input(0), w = c.input(1), bias = c.input(2), y = c.output(0);
    require_float(c, x);
    const conv_shape s(c, y, x, w, conv_transpose_attributes);
    detail::convolve<conv_kind::spread>(b, s, x, w, y);
    if (!bias) return;
    detail::channel_add_body::arguments a{};
    a.to = y.row<float>(0);
    a.numbers = bias.row<const float>(0);
    a.stride = y.stride;
    a.columns = divider(y.columns);
    a.channel_size = divider(s.large_size());
    a.count = y.rows * y.columns;
    b.template elements<detail::channel_add_body>(a);
  }
};

template <>
struct call_kernel<gradient_of<conv2d_transpose>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    const operand x = c.input(0), w = c.input(1), d = c.input(3);
    const operand dx = c.output(0), dw = c.output(1), dbias = c.output(2);
    const conv_shape s(c, d, x, w, conv_transpose_attributes);
    if (dx) detail::convolve<conv_kind::forward>(b, s, d, w, dx);
    if (dw) detail::filter_gradient(b, s, d, x, dw);
    if (dbias) add_channels(b, d, dbias);
  }
};

}  // namespace lamina::engine::cuda
