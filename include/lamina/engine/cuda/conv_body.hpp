// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/conv_body.hpp - what the threads of a convolution do: implicit products of
// filters and windows, statements on the sums while they are in registers.
#pragma once

#include <lamina/engine/cuda/conv_reader.hpp>
#include <lamina/engine/cuda/group_body.hpp>
#include <lamina/engine/cuda/tile_product.hpp>

namespace lamina::engine::cuda {

/// A group whose head is a convolution: argument 0 are the images, 1 the filters.
template <int Arguments>
struct conv_arguments : group_arguments<Arguments> {
  conv_geometry conv;
  int seen;  // terms of a sum: channels of a group times taps
};

namespace detail {

template <conv_kind Kind>
struct conv_sides {
  /// Channels of the result and of the images of one group, and the elements of a channel of each.
  static LAMINA_FN int made(const conv_geometry& c) {
    return Kind == conv_kind::forward ? c.small_channels : c.large_channels;
  }
  static LAMINA_FN int read(const conv_geometry& c) {
    return Kind == conv_kind::forward ? c.large_channels : c.small_channels;
  }
  static LAMINA_FN const divider& made_size(const conv_geometry& c) {
    return (Kind == conv_kind::forward ? c.small : c.large).size;
  }
  static LAMINA_FN const divider& read_size(const conv_geometry& c) {
    return (Kind == conv_kind::forward ? c.large : c.small).size;
  }
  template <template <conv_kind> class Reader, class Arguments>
  static LAMINA_INLINE LAMINA_FN Reader<Kind> windows(const Arguments& g, int group) {
    return {
        g.conv,
        g.of[0] + static_cast<std::ptrdiff_t>(group) * read(g.conv) * read_size(g.conv).divisor(),
        g.left_stride, g.rows * made_size(g.conv).divisor(), g.seen};
  }
  template <class Arguments>
  static LAMINA_INLINE LAMINA_FN filter_reader<Kind> filters(const Arguments& g, int group) {
    return {{g.conv,
             g.of[1] + static_cast<std::ptrdiff_t>(group) * g.conv.small_channels * g.right_stride,
             g.right_stride, made(g.conv), g.seen}};
  }
};

}  // namespace detail

namespace detail {

/// Teams of convolutions that a processor is to hold at least: of low tiles one, or else nvcc takes
/// registers for more of them, and writes some to memory.
template <class Shape>
inline constexpr int least_resident_tiles = Shape::rows <= 16 ? 1 : 0;

/// Tiles of channels by places of all images; groups one after the other.
template <conv_kind Kind, class Shape>
struct image_tiles {
  using sides = conv_sides<Kind>;

  template <class Arguments>
  static LAMINA_FN int count(const Arguments& g) {
    return g.conv.groups * across(g) * down(g);
  }
  /// Multiplies tile `t` over the terms from `first` to before `end`, and calls
  /// f(sums, image, column) for each pack of its places, or for each of them alone.
  template <class Share, class Team, class Arguments, class F>
  static LAMINA_INLINE LAMINA_FN void multiply(const Arguments& g, const Team& team,
                                               typename Shape::memory& s, Share& mine, int t,
                                               int first, int end, const F& f) {
    const int wide = across(g), high = down(g);
    const int group = t / (wide * high), in_group = t % (wide * high);
    const int row0 = in_group / wide * Shape::rows, column0 = in_group % wide * Shape::columns;
    mine.multiply(team, s, first, end, row0, sides::filters(g, group), column0,
                  sides::template windows<masked_window_reader>(g, group));
    mine.each(team, s, [&](int y, int x, const pack& sums) {
      finish(g, sums, group, row0 + y, column0 + x, f);
    });
  }

 private:
  template <class Arguments>
  static LAMINA_FN int across(const Arguments& g) {
    return (g.rows * sides::made_size(g.conv).divisor() + Shape::columns - 1) / Shape::columns;
  }
  template <class Arguments>
  static LAMINA_FN int down(const Arguments& g) {
    return (sides::made(g.conv) + Shape::rows - 1) / Shape::rows;
  }
  // Neighbouring places are neighbours in memory; packs of them are aligned where the channels are
  // whole packs.
  template <class Arguments, class F>
  static LAMINA_INLINE LAMINA_FN void finish(const Arguments& g, const pack& sums, int group,
                                             int channel, int q, const F& f) {
    const divider& size = sides::made_size(g.conv);
    const int channels = sides::made(g.conv), all = g.rows * size.divisor();
    if (channel >= channels) return;
    const int first = (group * channels + channel) * size.divisor();
    if (size.divisor() % pack_width == 0) {
      if (q >= all) return;
      const int image = size.divide(q);
      f(sums, image, first + q);
    } else {
      LAMINA_CUDA_UNROLL
      for (int j = 0; j < pack_width; ++j) {
        int place = q + j;
        if (place >= all) continue;
        const int image = size.divide(place);
        f(lone_float{{sums.v[j]}}, image, first + place);
      }
    }
  }
};

}  // namespace detail

/// Statements on the sums of each tile.
template <conv_kind Kind, class S, class Shape>
struct conv_body {
  using runner = statement_runner<S>;
  using arguments = conv_arguments<detail::largest<1, runner::arguments - 1>() + 1>;
  using tiles = detail::image_tiles<Kind, Shape>;
  static constexpr int threads = Shape::threads;
  static constexpr int least_resident = detail::least_resident_tiles<Shape>;
  using shared = typename Shape::memory;
  static int teams(const arguments& g) { return tiles::count(g); }

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, const Team& team, shared& s) {
    typename Shape::template share<Team> mine(team);
    const int all = tiles::count(g);
    for (int t = team.index; t < all; t += team.count)
      tiles::multiply(g, team, s, mine, t, 0, g.seen, [&](const auto& sum, int image, int column) {
        runner::run(g.of, sum,
                    {static_cast<std::ptrdiff_t>(image) * g.width + column, image, column,
                     g.channel_size, g.channels});
      });
  }
};

/// What the kernel of the parts of a convolution is given; of[2]: the first part, rows of
/// `columns`.
struct part_conv_arguments : conv_arguments<3> {
  int parts, part_terms;
};

/// Tiles of all parts, where the terms are cut for want of tiles.
template <conv_kind Kind, class Shape>
struct part_conv_body {
  using arguments = part_conv_arguments;
  using tiles = detail::image_tiles<Kind, Shape>;
  static constexpr int threads = Shape::threads;
  static constexpr int least_resident = detail::least_resident_tiles<Shape>;
  using shared = typename Shape::memory;
  static int teams(const arguments& g) { return g.parts * tiles::count(g); }

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, const Team& team, shared& s) {
    typename Shape::template share<Team> mine(team);
    const int all = tiles::count(g);
    for (int t = team.index; t < g.parts * all; t += team.count) {
      const int part = t / all, first = part * g.part_terms;
      const int end = g.seen - first < g.part_terms ? g.seen : first + g.part_terms;
      float* const to = g.of[2] + static_cast<std::ptrdiff_t>(part) * g.rows * g.columns;
      tiles::multiply(
          g, team, s, mine, t % all, first, end, [&](const auto& sum, int image, int column) {
            store_pack(to + static_cast<std::ptrdiff_t>(image) * g.columns + column, sum);
          });
    }
  }
};

/// The same, a thread a pack of places, for groups of so few channels that a tile would be empty:
/// depthwise convolutions.
template <conv_kind Kind, class S>
struct direct_conv_body {
  using runner = statement_runner<S>;
  using arguments = conv_arguments<detail::largest<1, runner::arguments - 1>() + 1>;
  using sides = detail::conv_sides<Kind>;

  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, const position& at) {
    const divider& size = sides::made_size(g.conv);
    const int channels = sides::made(g.conv);
    for (int r = at.row; r < g.rows; r += at.rows)
      for (int c = at.column * pack_width; c < g.width; c += at.columns * pack_width) {
        pack sum = filled(0.0f);
        for (int j = 0; j < pack_width && c + j < g.columns; ++j) {
          int place = c + j;
          const int channel = size.divide(place), group = channel / channels;
          const auto windows = sides::template windows<window_reader>(g, group);
          const auto filters = sides::filters(g, group);
          const auto seen = windows.line(r * size.divisor() + place);
          const auto filter = filters.line(channel - group * channels);
          float one = 0;
          for (int k = 0; k < g.seen; ++k)
            one += filters.get(filter, filters.deep(k)) * windows.get(seen, windows.deep(k));
          sum.v[j] = one;
        }
        runner::run(
            g.of, sum,
            {static_cast<std::ptrdiff_t>(r) * g.width + c, r, c, g.channel_size, g.channels});
      }
  }
};

/// What the kernels of the gradient of the filters are given: of[0] the large images, of[1] the
/// small ones, of[2] the gradient, or parts of it one behind the other.
struct conv_filter_arguments {
  const float *large, *small;
  float* to;
  std::ptrdiff_t large_stride, small_stride, to_stride, part_stride;
  conv_geometry conv;
  int seen;               // channels of a group times taps
  int terms, part_terms;  // places of the small images of all rows; of one part
  int parts;
  int lines, width;  // where a team sums each number
};

/// Tiles of filters by what they see; where these are few, the terms are cut into parts whose sums
/// are added in their order.
template <class Shape>
struct conv_filter_body {
  using arguments = conv_filter_arguments;
  static constexpr int threads = Shape::threads;
  static constexpr int least_resident = detail::least_resident_tiles<Shape>;
  using shared = typename Shape::memory;
  static LAMINA_FN int tiles(const arguments& g) { return g.conv.groups * across(g) * down(g); }
  static int teams(const arguments& g) { return tiles(g) * g.parts; }

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, const Team& team, shared& s) {
    const int wide = across(g), high = down(g), all = tiles(g);
    typename Shape::template share<Team> mine(team);
    for (int t = team.index; t < all * g.parts; t += team.count) {
      const int part = t / all, group = t % all / (wide * high), in_group = t % (wide * high);
      const int row0 = in_group / wide * Shape::rows, column0 = in_group % wide * Shape::columns;
      const int first = part * g.part_terms;
      const int end = g.terms - first < g.part_terms ? g.terms : first + g.part_terms;
      const slope_reader slopes{{g.conv,
                                 channel(g.small, g.conv.small_channels, g.conv.small, group),
                                 g.small_stride, g.conv.small_channels, end}};
      const seen_reader<masked_window_reader<conv_kind::forward>> seen{
          {g.conv, channel(g.large, g.conv.large_channels, g.conv.large, group), g.large_stride,
           end, g.seen}};
      mine.multiply(team, s, first, end, row0, slopes, column0, seen);
      float* const to = g.to + part * g.part_stride;
      mine.each(team, s, [&](int y, int x, const pack& sums) {
        const int r = row0 + y;
        if (r >= g.conv.small_channels) return;
        for (int j = 0; j < pack_width; ++j)
          if (const int c = column0 + x + j; c < g.seen)
            to[(group * g.conv.small_channels + r) * g.to_stride + c] = sums.v[j];
      });
    }
  }

 private:
  static LAMINA_INLINE LAMINA_FN const float* channel(const float* images, int channels,
                                                      const volume_divider& of, int group) {
    return images + static_cast<std::ptrdiff_t>(group) * channels * of.size.divisor();
  }
  static LAMINA_FN int across(const arguments& g) {
    return (g.seen + Shape::columns - 1) / Shape::columns;
  }
  static LAMINA_FN int down(const arguments& g) {
    return (g.conv.small_channels + Shape::rows - 1) / Shape::rows;
  }
};

/// Each number by a team of its own, where a group has few filters.
struct direct_conv_filter_body {
  using arguments = conv_filter_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, const Team& team) {
    for (int i = team.index; i < g.lines; i += team.count) {
      const int filter = i / g.seen, term = i % g.seen, group = filter / g.conv.small_channels;
      const slope_reader slopes{
          {g.conv, g.small + static_cast<std::ptrdiff_t>(filter) * g.conv.small.size.divisor(),
           g.small_stride, 1, g.terms}};
      const seen_reader<window_reader<conv_kind::forward>> seen{
          {g.conv,
           g.large + static_cast<std::ptrdiff_t>(group) * g.conv.large_channels *
                         g.conv.large.size.divisor(),
           g.large_stride, g.terms, g.seen}};
      const auto row = slopes.line(0);
      const auto column = seen.line(term);
      float sum = 0;
      for (int k = team.rank(); k < g.terms; k += team.size())
        sum += slopes.get(row, slopes.deep(k)) * seen.get(column, seen.deep(k));
      sum = sum_of(team, sum);
      if (team.rank() == 0) g.to[filter * g.to_stride + term] = sum;
    }
  }
};

}  // namespace lamina::engine::cuda
