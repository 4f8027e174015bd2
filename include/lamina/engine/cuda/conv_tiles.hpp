// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/conv_tiles.hpp - the tile that a convolution takes: one as high as it has
// channels, for what is empty is multiplied, too.
//
// The sizes of a filter are known when a program is compiled, so a kernel has the ways alone that
// the program's convolutions take. Which one a convolution takes depends on its sizes, not on the
// device: equal inputs give equal bits.
#pragma once

#include <bit>

#include <lamina/engine/cuda/conv_reader.hpp>

namespace lamina::engine::cuda {

/// How a convolution is computed: by threads that need no others, or by tiles of a quarter, of half
/// or of all the rows of a product's tile, and the wider. On a device these are 16 x 256 (by tensor
/// cores 16 x 128), 32 x 128 and 64 x 64.
enum class conv_way { direct, quarter, half, whole };

/// A set of ways, a bit each.
constexpr unsigned way_bit(conv_way way) { return 1u << static_cast<int>(way); }
/// Bits of a set: of a kernel that is two convolutions, the second one's set lies behind.
inline constexpr int way_bits = 4;
inline constexpr unsigned every_way = (1u << way_bits) - 1;

/// Which argument of an operator is the filter or its gradient, and which attribute tells the
/// groups.
struct filter_place {
  int argument, groups;
};

namespace detail {

/// The side of the whole tile on a device, by which all places choose, so that hosts run what
/// devices do.
inline constexpr int whole_tile = 64;
/// Channels of a group, and filters of one, up to which a tile would be nearly empty.
inline constexpr int most_direct_channels = 8, most_direct_filters = 4;
/// Whether bits stand for the taps of a filter, as tiles ask for (masked_window_reader).
constexpr bool has_few_taps(const conv_shape& s) {
  return s.side[0].filter + s.side[1].filter + s.side[2].filter <= most_filter_sides;
}
/// How many times a tile is lower, and wider.
constexpr int tile_fold(conv_way way) {
  return way == conv_way::quarter ? 4 : way == conv_way::half ? 2 : 1;
}

}  // namespace detail

/// The tile of a way at a place.
template <class Backend, conv_way Way>
using conv_tile = typename Backend::product_tile::template flat<detail::tile_fold(Way)>;

/// Images that are made: the lowest tile that has a row for each channel of a group. One of 16
/// channels would leave three quarters of 64 rows empty.
template <conv_kind Kind>
constexpr conv_way way_of_images(const conv_shape& s) {
  const int made = Kind == conv_kind::forward ? s.small_channels : s.large_channels;
  if (made <= detail::most_direct_channels || !detail::has_few_taps(s)) return conv_way::direct;
  for (const conv_way way : {conv_way::quarter, conv_way::half})
    if (made * detail::tile_fold(way) <= detail::whole_tile) return way;
  return conv_way::whole;
}

/// The gradient of the filters: filters by the terms that one sees, either of which may be few. The
/// tile of which the least is empty; of equal ones the squarest, which reads the least.
constexpr conv_way way_of_filters(const conv_shape& s) {
  if (s.small_channels <= detail::most_direct_filters || !detail::has_few_taps(s))
    return conv_way::direct;
  const auto in_tiles = [&](conv_way way) {
    const int rows = detail::whole_tile / detail::tile_fold(way);
    const int columns = detail::whole_tile * detail::tile_fold(way);
    const auto whole = [](long long n, int each) { return (n + each - 1) / each * each; };
    return whole(s.small_channels, rows) *
           whole(static_cast<long long>(s.large_channels) * s.taps(), columns);
  };
  conv_way best = conv_way::whole;
  for (const conv_way way : {conv_way::half, conv_way::quarter})
    if (in_tiles(way) < in_tiles(best)) best = way;
  return best;
}

/// f.operator()<Way>() for the way `way`, which is one of a set: the others are not instantiated,
/// and where it has one alone there is nothing to choose.
template <unsigned Ways, class F>
void take_way(conv_way way, const F& f) {
  static_assert(Ways != 0);
  constexpr conv_way first = static_cast<conv_way>(std::countr_zero(Ways));
  constexpr unsigned others = Ways & ~way_bit(first);
  if constexpr (others == 0) {
    f.template operator()<first>();
  } else {
    if (way == first)
      f.template operator()<first>();
    else
      take_way<others>(way, f);
  }
}

}  // namespace lamina::engine::cuda
