// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/conv_kernels.hpp - convolutions and their gradients: groups whose head is one,
// the gradient of the filters, conv2d_transpose.
#pragma once

#include <algorithm>

#include <lamina/engine/cuda/call_site.hpp>
#include <lamina/engine/cuda/channel_sums.hpp>
#include <lamina/engine/cuda/conv_body.hpp>
#include <lamina/engine/cuda/conv_split.hpp>
#include <lamina/engine/cuda/launch_group.hpp>
#include <lamina/engine/cuda/part_sum_body.hpp>
#include <lamina/operators/conv.hpp>
#include <lamina/plan/image_operators.hpp>
#include <lamina/plan/plan_operators.hpp>

namespace lamina::engine::cuda {

namespace detail {

/// A group whose head is a convolution.
template <conv_kind Kind, class S>
struct conv_launch {
  static constexpr bool exists = true;
  static constexpr filter_place filter{1, conv_attributes[3]};
  static constexpr unsigned ways(const conv_shape& s) { return way_bit(way_of_images<Kind>(s)); }
  template <class Backend, unsigned Ways>
  static void run_by(Backend& b, const call_site& c) {
    auto g = arguments_of<direct_conv_body<Kind, S>>(c);
    const operand from = c.at_position(0), w = c.at_position(1);
    g.left_stride = from.stride;
    g.right_stride = w.stride;
    launch_conv<Kind, S, Ways>(b, g, shape_of(c), c.run.scratch);
  }
  template <class Backend, unsigned Ways>
  static std::ptrdiff_t scratch_by(const call_site& c) {
    return conv_scratch<Kind, Ways, Backend>(shape_of(c), c.run.rows_of(c.group.rows));
  }

 private:
  static conv_shape shape_of(const call_site& c) {
    // A group has no argument for a result that is not stored: its dimensions are given by place.
    const operand from = c.at_position(0), w = c.at_position(1);
    operand to = from;
    to.columns = c.group.columns;
    to.dims = c.program().dims + c.group.depth;
    const bool forward = Kind == conv_kind::forward;
    return {c, forward ? from : to, forward ? to : from, w, conv_attributes};
  }
};

/// The head alone, stored in argument 2.
using keep_head = expression::statements<expression::let<keep, 0, 2, expression::head_value>>;

/// A convolution that is no head: images `to` from images `from`; `scratch` as in launch_conv.
template <conv_kind Kind, unsigned Ways, class Backend>
void convolve(Backend& b, const conv_shape& s, const operand& from, const operand& filter,
              const operand& to, float* scratch) {
  conv_arguments<3> g{};
  g.of[0] = from.row<float>(0);
  g.of[1] = filter.row<float>(0);
  g.of[2] = to.row<float>(0);
  g.rows = to.rows;
  g.columns = to.columns;
  g.width = static_cast<int>(to.stride);
  g.left_stride = from.stride;
  g.right_stride = filter.stride;
  g.channels = 1;
  launch_conv<Kind, keep_head, Ways>(b, g, s, scratch);
}

/// The gradient of the filters `to` from large and small images; `scratch` holds its parts.
class filter_gradient {
 public:
  filter_gradient(const conv_shape& s, int rows) : shape_(s) {
    terms_ = rows * s.small_size();
    seen_ = s.large_channels * s.taps();
    filters_ = s.groups * s.small_channels;
  }
  template <class Backend, unsigned Ways>
  std::ptrdiff_t scratch() const {
    int n = 1;
    take_way<Ways>(way_of_filters(shape_), [&]<conv_way Way>() {
      if constexpr (Way != conv_way::direct) n = parts<conv_tile<Backend, Way>>();
    });
    return n > 1 ? static_cast<std::ptrdiff_t>(n) * filters_ * seen_ : 0;
  }
  template <unsigned Ways, class Backend>
  void run(Backend& b, const operand& large, const operand& small, const operand& to,
           float* scratch) const {
    conv_filter_arguments g{};
    g.large = large.row<const float>(0);
    g.small = small.row<const float>(0);
    g.large_stride = large.stride;
    g.small_stride = small.stride;
    g.to = to.row<float>(0);
    g.to_stride = to.stride;
    g.conv = conv_geometry(shape_);
    g.seen = seen_;
    g.terms = terms_;
    take_way<Ways>(way_of_filters(shape_), [&]<conv_way Way>() {
      if constexpr (Way == conv_way::direct) {
        g.lines = filters_ * seen_;
        g.width = terms_;
        b.template lines<direct_conv_filter_body>(g);
      } else {
        run_tiles<conv_tile<Backend, Way>>(b, g, to, scratch);
      }
    });
  }

 private:
  template <class Shape, class Backend>
  void run_tiles(Backend& b, conv_filter_arguments& g, const operand& to, float* scratch) const {
    g.parts = parts<Shape>();
    g.part_terms = (terms_ + g.parts - 1) / g.parts;
    if (g.parts == 1) return b.template teams<conv_filter_body<Shape>>(g);
    g.to = scratch;
    g.to_stride = seen_;
    g.part_stride = static_cast<std::ptrdiff_t>(filters_) * seen_;
    b.template teams<conv_filter_body<Shape>>(g);
    add_parts(b, scratch, g.parts, filters_, seen_, to.row<float>(0), to.stride);
  }
  /// Terms of the shortest part.
  template <class Shape>
  static constexpr int shortest = 16 * Shape::depth < 256 ? 16 * Shape::depth : 256;
  /// As many parts as keep a device of about 256 resident teams at work, each of some tiles deep.
  /// The same on every device: equal inputs give equal bits.
  template <class Shape>
  int parts() const {
    const auto tiles = [](int n, int each) { return (n + each - 1) / each; };
    const int all =
        shape_.groups * tiles(shape_.small_channels, Shape::rows) * tiles(seen_, Shape::columns);
    return std::clamp(256 / std::max(1, all), 1, std::max(1, terms_ / shortest<Shape>));
  }

  conv_shape shape_;
  int terms_, seen_, filters_;
};

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

namespace detail {
/// What is launched by the ways that a filter chooses, of operators whose kernels tell where it is.
template <class Op>
struct conv_call {};
template <class Op>
requires requires { call_kernel<Op>::filter; }
struct conv_call<Op> {
  static constexpr filter_place filter = call_kernel<Op>::filter;
  static constexpr unsigned ways(const conv_shape& s) { return call_kernel<Op>::ways(s); }
  template <class Backend, unsigned Ways>
  static void run_by(Backend& b, const call_site& c) {
    call_kernel<Op>::template launch<Ways>(b, c);
  }
  template <class Backend, unsigned Ways>
  requires requires(const call_site& c) { call_kernel<Op>::template scratch<Backend, Ways>(c); }
  static std::ptrdiff_t scratch_by(const call_site& c) {
    return call_kernel<Op>::template scratch<Backend, Ways>(c);
  }
};
}  // namespace detail

template <>
struct call_kernel<conv_filter_gradient_sum> {
  static constexpr bool launches = true;
  static constexpr filter_place filter{2, conv_attributes[3]};
  static constexpr unsigned ways(const conv_shape& s) { return way_bit(way_of_filters(s)); }
  template <unsigned Ways, class Backend>
  static void launch(Backend& b, const call_site& c) {
    const operand x = c.input(0), d = c.input(1), dw = c.output(0);
    gradient(c).run<Ways>(b, x, d, dw, c.run.scratch);
  }
  template <class Backend, unsigned Ways>
  static std::ptrdiff_t scratch(const call_site& c) {
    return gradient(c).scratch<Backend, Ways>();
  }

 private:
  static detail::filter_gradient gradient(const call_site& c) {
    const operand x = c.input(0);
    return {conv_shape(c, x, c.input(1), c.output(0), conv_attributes), x.rows};
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
  static constexpr filter_place filter{1, conv_transpose_attributes[3]};
  static constexpr unsigned ways(const conv_shape& s) {
    return way_bit(way_of_images<conv_kind::spread>(s));
  }
  template <unsigned Ways, class Backend>
  static void launch(Backend& b, const call_site& c) {
    const operand x = c.input(0), w = c.input(1), bias = c.input(2), y = c.output(0);
    require_float(c, x);
    const conv_shape s(c, y, x, w, conv_transpose_attributes);
    detail::convolve<conv_kind::spread, Ways>(b, s, x, w, y, c.run.scratch);
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
  template <class Backend, unsigned Ways>
  static std::ptrdiff_t scratch(const call_site& c) {
    const operand x = c.input(0);
    const conv_shape s(c, c.output(0), x, c.input(1), conv_transpose_attributes);
    return detail::conv_scratch<conv_kind::spread, Ways, Backend>(s, x.rows);
  }
};

template <>
struct call_kernel<gradient_of<conv2d_transpose>> {
  static constexpr bool launches = true;
  static constexpr filter_place filter{1, conv_transpose_attributes[3]};
  /// Those of the input's gradient, and behind them those of the filters'.
  static constexpr unsigned ways(const conv_shape& s) {
    return way_bit(way_of_images<conv_kind::forward>(s)) | way_bit(way_of_filters(s)) << way_bits;
  }
  template <unsigned Ways, class Backend>
  static void launch(Backend& b, const call_site& c) {
    const operand x = c.input(0), w = c.input(1), d = c.input(3);
    const operand dx = c.output(0), dw = c.output(1), dbias = c.output(2);
    const conv_shape s(c, d, x, w, conv_transpose_attributes);
    if (dx) detail::convolve<conv_kind::forward, Ways & every_way>(b, s, d, w, dx, c.run.scratch);
    if (dw) detail::filter_gradient(s, x.rows).run<(Ways >> way_bits)>(b, d, x, dw, c.run.scratch);
    if (dbias) add_channels(b, d, dbias);
  }
  template <class Backend, unsigned Ways>
  static std::ptrdiff_t scratch(const call_site& c) {
    const operand x = c.input(0);
    const conv_shape s(c, c.input(3), x, c.input(1), conv_transpose_attributes);
    // The parts of one are gone when those of the other come.
    return std::max(detail::conv_scratch<conv_kind::forward, Ways & every_way, Backend>(s, x.rows),
                    detail::filter_gradient(s, x.rows).scratch<Backend, (Ways >> way_bits)>());
  }
};

}  // namespace lamina::engine::cuda
