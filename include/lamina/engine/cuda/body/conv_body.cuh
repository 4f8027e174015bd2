// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/conv_body.cuh - the bodies of convolution kernels. A block computes a
// tile of the matrix product of filters and image windows, and runs the group's statements on the
// sums while they are in registers.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/conv_reader.cuh>
#include <lamina/engine/cuda/body/pointwise.cuh>
#include <lamina/engine/cuda/body/tile_product.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// The arguments of a group that begins with a convolution. Argument 0 is the images, argument 1
/// the filters. If `parts` is above 1, the terms of each sum are divided into parts of `part_terms`
/// terms, and each part is summed separately into an array of rows x columns floats at `sums`.
template <int Arguments>
struct conv_arguments : group_arguments<Arguments> {
  conv_geometry conv;
  float* sums;
  int parts, part_terms;
};

/// Computes the product filters x windows for each group of channels. Rows of the product are
/// channels of the result, columns are the result's positions in all images. A depthwise
/// convolution has groups of one channel.
template <conv_kind Kind, class S, class Shape, bool ManyTaps = false>
struct conv_body {
  using runner = statement_runner<S>;
  using arguments = conv_arguments<detail::largest<1, runner::arguments - 1>() + 1>;
  static constexpr int threads = Shape::threads;
  using shared = typename Shape::memory;
  static int teams(const arguments& g) { return g.parts * g.conv.groups * down(g) * across(g); }

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, const Team& team, shared& s) {
    const int wide = across(g), high = down(g), tiles = g.conv.groups * high * wide;
    const int all = g.conv.template from<Kind>().channels * g.conv.taps.size.divisor();
    tile_part<Shape> mine(team);
    for (int t = team.index; t < g.parts * tiles; t += team.count) {
      const int part = t / tiles, group = t % tiles / (wide * high), in_group = t % (wide * high);
      const int begin = part * g.part_terms;
      const int terms = all - begin < g.part_terms ? all : begin + g.part_terms;
      const int row0 = in_group / wide * Shape::rows, column0 = in_group % wide * Shape::columns;
      mine.multiply(team, s, begin, terms, row0, filters(g, group, terms), column0,
                    windows(g, group, terms));
      mine.each([&](int y, int x, const pack& sums) {
        finish(g, sums, part, group, row0 + y, column0 + x);
      });
    }
  }

 private:
  static LAMINA_FN int positions(const arguments& g) {
    return g.rows * g.conv.template to<Kind>().size.divisor();
  }
  static LAMINA_FN int across(const arguments& g) {
    return tiles_for(positions(g), Shape::columns);
  }
  static LAMINA_FN int down(const arguments& g) {
    return tiles_for(g.conv.template to<Kind>().channels, Shape::rows);
  }
  using window_type = typename window_reader_of<Kind, ManyTaps>::type;
  static LAMINA_INLINE LAMINA_FN window_type windows(const arguments& g, int group, int terms) {
    const std::ptrdiff_t first = group * g.conv.template from<Kind>().floats();
    return {g.conv, g.of[0] + first, g.left_stride, positions(g), terms};
  }
  // The filters are stored as an array [small channel][large channel][tap].
  static LAMINA_INLINE LAMINA_FN auto filters(const arguments& g, int group, int terms) {
    const float* const first = g.of[1] + group * g.conv.smaller.channels * g.right_stride;
    if constexpr (Kind == conv_kind::forward)
      return filter_reader{first, g.right_stride, g.conv.smaller.channels, terms};
    else
      return channel_reader{first, g.right_stride, g.conv.taps.size, g.conv.large.channels, terms};
  }
  // Stores whole packs if a channel is a whole number of packs: then packs of neighbouring
  // positions are aligned. Otherwise stores single floats.
  static LAMINA_INLINE LAMINA_FN void finish(const arguments& g, const pack& sums, int part,
                                             int group, int channel, int q) {
    const conv_volume& to = g.conv.template to<Kind>();
    const divider& size = to.size;
    if (channel >= to.channels) return;
    const int first = (group * to.channels + channel) * size.divisor();
    if (size.divisor() % pack_width == 0) {
      if (q < positions(g)) store(g, sums, part, first, q);
    } else {
      LAMINA_CUDA_UNROLL
      for (int j = 0; j < pack_width; ++j)
        if (q + j < positions(g)) store(g, lone_float{{sums.v[j]}}, part, first, q + j);
    }
  }
  /// Runs the statements on the sums at position `q`, counted over all images, of the channel that
  /// begins at column `first`. If there are several parts, stores the sums instead.
  template <class Pack>
  static LAMINA_INLINE LAMINA_FN void store(const arguments& g, const Pack& sums, int part,
                                            int first, int q) {
    const int image = g.conv.template to<Kind>().size.divide(q), column = first + q;
    if (g.parts > 1) {
      const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(part) * g.rows + image;
      return store_pack(g.sums + row * g.columns + column, sums);
    }
    runner::run(g.of, sums,
                {static_cast<std::ptrdiff_t>(image) * g.width + column, image, column,
                 g.channel_size, g.channels});
  }
};

/// The second kernel of a convolution whose sums are divided into parts: adds the sums of the parts
/// in order and runs the statements. Rows are whole packs.
template <class S>
struct conv_sum_body {
  using runner = statement_runner<S>;
  struct arguments {
    conv_arguments<detail::largest<1, runner::arguments - 1>() + 1> conv;
    divider packs;  // packs per row
    int count;      // number of packs in all rows
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const auto& g = a.conv;
    const float* from = g.sums + static_cast<std::ptrdiff_t>(i) * pack_width;
    pack sum = load_constant(from);
    LAMINA_CUDA_KEEP_LOOP
    for (int part = 1; part < g.parts; ++part) {
      from += static_cast<std::ptrdiff_t>(g.rows) * g.columns;
      const pack next = load_constant(from);
      LAMINA_CUDA_UNROLL
      for (int j = 0; j < pack_width; ++j) sum.v[j] += next.v[j];
    }
    int column = i;
    const int row = a.packs.divide(column);
    column *= pack_width;
    runner::run(g.of, sum,
                {static_cast<std::ptrdiff_t>(row) * g.width + column, row, column, g.channel_size,
                 g.channels});
  }
};

/// The arguments of the kernel that computes the gradient of the filters.
struct conv_filter_arguments {
  const float *large, *smaller;
  float* to;
  std::ptrdiff_t large_stride, small_stride, to_stride, part_stride;
  conv_geometry conv;
  int rows;  // images
  int parts, part_terms;
};

/// Computes the gradient of the filters, the product (small images) x windows^T, for each group of
/// channels. Rows of the product are filters, columns are the elements that a filter covers, and
/// the terms of each sum are the positions in all images. Separate blocks sum `parts` parts of the
/// terms into separate arrays, so equal inputs give equal bits.
template <class Shape, bool ManyTaps = false>
struct conv_filter_body {
  using arguments = conv_filter_arguments;
  static constexpr int threads = Shape::threads;
  using shared = typename Shape::memory;
  static int teams(const arguments& g) { return g.parts * g.conv.groups * down(g) * across(g); }

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, const Team& team, shared& s) {
    const conv_geometry& c = g.conv;
    const int wide = across(g), high = down(g), tiles = c.groups * high * wide;
    const int filters = c.smaller.channels, terms = g.rows * c.smaller.size.divisor();
    tile_part<Shape> mine(team);
    for (int t = team.index; t < g.parts * tiles; t += team.count) {
      const int part = t / tiles, group = t % tiles / (wide * high), in_group = t % (wide * high);
      const int row0 = in_group / wide * Shape::rows, column0 = in_group % wide * Shape::columns;
      const int first = part * g.part_terms;
      const int end = terms - first < g.part_terms ? terms : first + g.part_terms;
      const channel_reader grads{g.smaller + group * c.smaller.floats(), g.small_stride,
                                 c.smaller.size, filters, end};
      using window_type = typename window_reader_of<conv_kind::forward, ManyTaps>::type;
      const turned_window_reader<window_type> windows{
          {c, g.large + group * c.large.floats(), g.large_stride, end, seen(g)}};
      mine.multiply(team, s, first, end, row0, grads, column0, windows);
      float* const to = g.to + part * g.part_stride;
      mine.each([&](int y, int x, const pack& sums) {
        const int r = row0 + y;
        if (r >= filters) return;
        LAMINA_CUDA_UNROLL
        for (int j = 0; j < pack_width; ++j)
          if (const int column = column0 + x + j; column < seen(g))
            to[(group * filters + r) * g.to_stride + column] = sums.v[j];
      });
    }
  }

 private:
  /// The number of elements that a filter covers: large channels per group times taps.
  static LAMINA_FN int seen(const arguments& g) {
    return g.conv.large.channels * g.conv.taps.size.divisor();
  }
  static LAMINA_FN int across(const arguments& g) { return tiles_for(seen(g), Shape::columns); }
  static LAMINA_FN int down(const arguments& g) {
    return tiles_for(g.conv.smaller.channels, Shape::rows);
  }
};

}}}  // namespace lamina::engine::cuda
