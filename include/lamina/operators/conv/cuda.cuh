// SPDX-License-Identifier: Apache-2.0
// lamina/operators/conv/cuda.cuh - launches convolutions and their gradients: fused groups that
// begin with a convolution, the gradient of the filters, and conv2d_transpose.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>

#include <lamina/engine/cuda/body/channel_sums.cuh>
#include <lamina/engine/cuda/body/column_sums.cuh>
#include <lamina/engine/cuda/body/conv_body.cuh>
#include <lamina/engine/cuda/body/conv_tile.hpp>
#include <lamina/engine/cuda/schedule/call_context.hpp>
#include <lamina/engine/cuda/schedule/group_kernel.hpp>
#include <lamina/operators/conv/definition.hpp>
#include <lamina/plan/image_operators.hpp>
#include <lamina/plan/plan_operators.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

template <class Backend, conv_folds Fold>
using conv_tile =
    typename Backend::product_tile::template folded<Fold == many_taps ? 1 : static_cast<int>(Fold)>;

/// Returns the fold of a convolution of kind `Kind`: it determines the tile shape of the kernel
/// (conv_tile.hpp).
template <conv_kind Kind>
constexpr conv_folds fold_of(const conv_shape& s) {
  return fold_of_image(s, Kind == conv_kind::forward ? s.small_channels : s.large_channels);
}

/// Splits the sums of a convolution with few tiles into several parts, so that there are enough
/// blocks to keep a device busy. The number of parts depends only on sizes, so that equal inputs
/// give the same results bit by bit.
template <conv_kind Kind, class Shape>
class conv_parts {
 public:
  conv_parts(const conv_shape& s, int images) : groups_(s.groups), images_(images) {
    const bool forward = Kind == conv_kind::forward;
    made_ = forward ? s.small_channels : s.large_channels;
    size_ = forward ? s.small_size() : s.large_size();
    terms_ = (forward ? s.large_channels : s.small_channels) * s.taps();
  }
  int count() const {
    const int tiles =
        groups_ * tiles_for(made_, Shape::rows) * tiles_for(images_ * size_, Shape::columns);
    return std::clamp(wanted_blocks / at_least_one(tiles), 1, most());
  }
  int terms_of_one(int parts) const { return (terms_ + parts - 1) / parts; }
  /// Returns the number of scratch floats for the sums of all parts. This number is enough for
  /// fewer images as well, although their sums may be split into more parts.
  std::ptrdiff_t scratch() const {
    if (most() == 1) return 0;
    return (std::min)(std::ptrdiff_t{images_} * columns() * most(),
                      std::ptrdiff_t{wanted_blocks} * Shape::rows * Shape::columns);
  }

 private:
  /// The number of blocks that keeps a device busy, and the least number of terms per block for
  /// which a split is faster.
  static constexpr int wanted_blocks = 384, least_terms = 8 * Shape::depth;

  int columns() const { return groups_ * made_ * size_; }
  /// The maximal number of parts. It is 1 if the columns are not a multiple of pack_width, because
  /// conv_sum_body reads whole packs.
  int most() const { return columns() % pack_width == 0 ? (std::max)(1, terms_ / least_terms) : 1; }

  int groups_, images_, made_, size_, terms_;
};

/// Launches a convolution and the statements of its fused group, which compute on the result of the
/// convolution.
template <conv_kind Kind, class S, conv_folds Folds, class Backend, class Arguments>
void run_convolution(Backend& b, Arguments g, const conv_shape& s, float* scratch) {
  g.conv = conv_geometry(s);
  with_fold<Folds>(fold_of<Kind>(s), [&]<conv_folds Fold> {
    using tile = conv_tile<Backend, Fold>;
    const conv_parts<Kind, tile> parts(s, g.rows);
    g.sums = scratch;
    g.parts = parts.count();
    g.part_terms = parts.terms_of_one(g.parts);
    b.template teams<conv_body<Kind, S, tile, Fold == many_taps>>(g);
  });
  if (g.parts == 1) return;
  typename conv_sum_body<S>::arguments sum{g, divider(g.columns / pack_width),
                                           g.rows * (g.columns / pack_width)};
  b.template elements<conv_sum_body<S>>(sum);
}
template <conv_kind Kind, conv_folds Folds, class Backend>
std::ptrdiff_t convolution_scratch(const conv_shape& s, int images) {
  std::ptrdiff_t floats = 0;
  with_fold<Folds>(fold_of<Kind>(s), [&]<conv_folds Fold> {
    floats = conv_parts<Kind, conv_tile<Backend, Fold>>(s, images).scratch();
  });
  return floats;
}

/// Launches a fused group that begins with a convolution, its head.
template <conv_kind Kind, class S>
struct conv_launch {
  static constexpr bool exists = true;
  static constexpr filter_argument filter{1, conv_attributes[3]};
  static constexpr conv_folds folds(const conv_shape& s) { return fold_of<Kind>(s); }
  template <class Backend, conv_folds Folds>
  static void run_folded(Backend& b, const call_context& c) {
    using any_body = conv_body<Kind, S, typename Backend::product_tile>;
    auto g = arguments_of<any_body>(c);
    g.left_stride = c.at_position(0).stride;
    g.right_stride = c.at_position(1).stride;
    run_convolution<Kind, S, Folds>(b, g, shape_of(c), c.run.scratch);
  }
  template <class Backend, conv_folds Folds>
  static std::ptrdiff_t folded_scratch(const call_context& c) {
    return convolution_scratch<Kind, Folds, Backend>(shape_of(c), c.run.rows_of(c.group.rows));
  }

 private:
  static conv_shape shape_of(const call_context& c) {
    const operand from = c.at_position(0), w = c.at_position(1);
    // A group has no argument for the convolution's result if it does not store the result. So the
    // dimensions of the result are read from the group.
    operand to = from;
    to.columns = c.group.columns;
    to.dims = c.program().dims + c.group.depth;
    const bool forward = Kind == conv_kind::forward;
    return {c, forward ? from : to, forward ? to : from, w, conv_attributes};
  }
};

/// The statements of a group that only stores the convolution's result, in argument 2.
using keep_head =
    expression::statements<expression::let<operators::keep, 0, 2, expression::head_value>>;

/// Computes a convolution that is not in a fused group, from images `from` to images `to`.
template <conv_kind Kind, conv_folds Folds, class Backend>
void convolve(Backend& b, const conv_shape& s, const operand& from, const operand& filter,
              const operand& to, float* scratch) {
  using any_body = conv_body<Kind, keep_head, typename Backend::product_tile>;
  typename any_body::arguments g{};
  g.of[0] = from.row<float>(0);
  g.of[1] = filter.row<float>(0);
  g.of[2] = to.row<float>(0);
  g.rows = to.rows;
  g.columns = to.columns;
  g.width = static_cast<int>(to.stride);
  g.left_stride = from.stride;
  g.right_stride = filter.stride;
  g.channels = 1;
  run_convolution<Kind, keep_head, Folds>(b, g, s, scratch);
}

/// Stores sums in the gradient of the filters. A row of this gradient has `seen` floats.
struct store_filters {
  float* to;
  std::ptrdiff_t stride;
  divider seen;
  LAMINA_INLINE LAMINA_FN void store(int, int i, const double (&sums)[1]) const {
    int column = i;
    const int row = seen.divide(column);
    to[row * stride + column] = static_cast<float>(sums[0]);
  }
};

/// Computes the gradient of the filters. This gradient is a matrix, filters x elements of a window,
/// with few tiles, but each element is a sum over all positions of all images. So each block adds
/// up a part of the terms, and a second kernel adds up the sums of the blocks.
class filter_gradient {
 public:
  filter_gradient(const conv_shape& s, int images)
      : shape_(s),
        images_(images),
        filters_(s.groups * s.small_channels),
        seen_(s.large_channels * s.taps()) {}

  /// Returns the number of scratch floats for the sums of the parts.
  template <conv_folds Folds, class Backend>
  std::ptrdiff_t scratch() const {
    std::ptrdiff_t floats = 0;
    with_fold<Folds>(fold_of_filters(shape_), [&]<conv_folds Fold> {
      const int n = parts<conv_tile<Backend, Fold>>();
      const std::ptrdiff_t each = std::ptrdiff_t{filters_} * seen_;
      floats = n == 1 ? 0 : sums_at(n * each) + column_scratch<Backend>(1, n, filters_ * seen_);
    });
    return floats;
  }
  /// Computes `to`, the gradient of the filters, from the larger and the smaller images.
  template <conv_folds Folds, class Backend>
  void run(Backend& b, const operand& large, const operand& smaller, const operand& to,
           float* scratch) const {
    conv_filter_arguments g{};
    g.large = large.row<const float>(0);
    g.smaller = smaller.row<const float>(0);
    g.large_stride = large.stride;
    g.small_stride = smaller.stride;
    g.conv = conv_geometry(shape_);
    g.rows = images_;
    with_fold<Folds>(fold_of_filters(shape_), [&]<conv_folds Fold> {
      using tile = conv_tile<Backend, Fold>;
      g.parts = parts<tile>();
      g.part_terms = (terms() + g.parts - 1) / g.parts;
      g.to = g.parts == 1 ? to.row<float>(0) : scratch;
      g.to_stride = g.parts == 1 ? to.stride : seen_;
      g.part_stride = std::ptrdiff_t{filters_} * seen_;
      b.template teams<conv_filter_body<tile, Fold == many_taps>>(g);
    });
    if (g.parts > 1)
      sum_columns(b, array_terms{scratch, g.part_stride},
                  store_filters{to.row<float>(0), to.stride, divider(seen_)}, g.parts,
                  filters_ * seen_, scratch + sums_at(g.parts * g.part_stride));
  }

 private:
  /// The number of blocks that keeps a device busy, and the least number of terms per block for
  /// which a split is faster.
  static constexpr int wanted_blocks = 512, least_terms = 512;

  int terms() const { return images_ * shape_.small_size(); }
  /// Rounds up to an even number of floats, because an array of doubles begins there.
  static std::ptrdiff_t sums_at(std::ptrdiff_t floats) { return (floats + 1) / 2 * 2; }
  /// The number of parts into which the terms of each sum are divided. It depends only on sizes, so
  /// that equal inputs give the same results bit by bit.
  template <class Shape>
  int parts() const {
    const int tiles = shape_.groups * tiles_for(shape_.small_channels, Shape::rows) *
                      tiles_for(seen_, Shape::columns);
    return std::clamp((std::min)(wanted_blocks / at_least_one(tiles), terms() / least_terms), 1,
                      512);
  }

  conv_shape shape_;
  int images_, filters_, seen_;
};

/// Adds one number per channel to all elements of the channel.
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
struct group_kernel<expression::group_expression<fusion_anchor::conv, S>>
    : detail::conv_launch<conv_kind::forward, S> {};
template <class S>
struct group_kernel<expression::group_expression<fusion_anchor::conv_dx, S>>
    : detail::conv_launch<conv_kind::spread, S> {};

template <>
struct call_kernel<operators::conv_filter_gradient_sum> {
  static constexpr bool launches = true;
  static constexpr filter_argument filter{2, conv_attributes[3]};
  static constexpr conv_folds folds(const conv_shape& s) { return fold_of_filters(s); }
  template <class Backend, conv_folds Folds>
  static void launch_folded(Backend& b, const call_context& c) {
    gradient(c).run<Folds>(b, c.input(0), c.input(1), c.output(0), c.run.scratch);
  }
  template <class Backend, conv_folds Folds>
  static std::ptrdiff_t folded_scratch(const call_context& c) {
    return gradient(c).scratch<Folds, Backend>();
  }

 private:
  static detail::filter_gradient gradient(const call_context& c) {
    const operand x = c.input(0);
    return {conv_shape(c, x, c.input(1), c.output(0), conv_attributes), x.rows};
  }
};

/// Computes Out[c] = the sum of channel c over all images.
template <>
struct call_kernel<operators::channel_sums> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    add_channels(b, c.input(0), c.output(0), c.run.scratch);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return channel_scratch(channel_terms::sums, {c.input(0), c.output(0).columns});
  }
};

template <>
struct call_kernel<operators::conv2d_transpose> {
  static constexpr bool launches = true;
  static constexpr filter_argument filter{1, conv_transpose_attributes[3]};
  static constexpr conv_folds folds(const conv_shape& s) {
    return detail::fold_of<conv_kind::spread>(s);
  }
  template <class Backend, conv_folds Folds>
  static void launch_folded(Backend& b, const call_context& c) {
    const operand x = c.input(0), w = c.input(1), bias = c.input(2), y = c.output(0);
    require_float(c, x);
    const conv_shape s(c, y, x, w, conv_transpose_attributes);
    detail::convolve<conv_kind::spread, Folds>(b, s, x, w, y, c.run.scratch);
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
  template <class Backend, conv_folds Folds>
  static std::ptrdiff_t folded_scratch(const call_context& c) {
    const operand x = c.input(0);
    const conv_shape s(c, c.output(0), x, c.input(1), conv_transpose_attributes);
    return detail::convolution_scratch<conv_kind::spread, Folds, Backend>(s, x.rows);
  }
};

template <>
struct call_kernel<gradient_of<operators::conv2d_transpose>> {
  static constexpr bool launches = true;
  static constexpr filter_argument filter{1, conv_transpose_attributes[3]};
  static constexpr conv_folds folds(const conv_shape& s) {
    return detail::fold_of<conv_kind::forward>(s) | fold_of_filters(s);
  }
  template <class Backend, conv_folds Folds>
  static void launch_folded(Backend& b, const call_context& c) {
    const operand x = c.input(0), w = c.input(1), d = c.input(3);
    const operand dx = c.output(0), dw = c.output(1), dbias = c.output(2);
    const conv_shape s(c, d, x, w, conv_transpose_attributes);
    if (dx) detail::convolve<conv_kind::forward, Folds>(b, s, d, w, dx, c.run.scratch);
    if (dw) detail::filter_gradient(s, x.rows).run<Folds>(b, d, x, dw, c.run.scratch);
    if (dbias) add_channels(b, d, dbias, c.run.scratch);
  }
  template <class Backend, conv_folds Folds>
  static std::ptrdiff_t folded_scratch(const call_context& c) {
    const operand x = c.input(0);
    const operand d = c.input(3);
    const conv_shape s(c, d, x, c.input(1), conv_transpose_attributes);
    // The kernels run one after the other, so they use the same scratch memory, and the largest
    // size is needed.
    return (std::max)({detail::convolution_scratch<conv_kind::forward, Folds, Backend>(s, x.rows),
                       detail::filter_gradient(s, x.rows).scratch<Folds, Backend>(),
                       channel_scratch(channel_terms::sums, {d, s.groups * s.large_channels})});
  }
};

}}}  // namespace lamina::engine::cuda
