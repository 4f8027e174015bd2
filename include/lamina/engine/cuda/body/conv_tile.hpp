// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/conv_tile.hpp - chooses the tile shape of a convolution. A tile is about
// as high as the number of channels, because empty rows of a tile cost as much as used rows.
//
// The shape of a filter is known at compile time, so a program contains only the kernels for the
// tile shapes that its convolutions use. The choice depends on the shape of the convolution, not on
// the device.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/conv/common.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// A fold selects a tile shape: the number 1, 2 or 4 by which the rows of the 64 x 64 tile are
/// divided and its columns multiplied. So the tiles on a device are 64 x 64, 32 x 128 and 16 x 256.
/// A variable of this type is one fold, or a set of folds as a bit mask.
using conv_folds = unsigned;
/// A further fold: the 64 x 64 tile, with the window reader for filters that have more taps than
/// fit in a bit mask.
inline constexpr conv_folds many_taps = 8;

/// The position of the filter in a group or call: `argument` is the index of the argument that is
/// the filter or its gradient, `groups` the index of the attribute that is the number of groups.
struct filter_argument {
  int argument, groups;
};

/// Rows of the tile with fold 1 on a device. All backends choose folds by this number.
inline constexpr int whole_tile = 64;

/// The largest sum of a filter's three side lengths for which a 32 bit mask can hold one bit per
/// tap along each side and one more bit.
inline constexpr int most_filter_sides = 31;

constexpr bool has_few_taps(const conv_shape& s) {
  return s.side[0].filter + s.side[1].filter + s.side[2].filter <= most_filter_sides;
}

/// Returns the fold with the fewest rows that are at least `channels`, the channels of the result;
/// 1 if there are more channels than rows in every tile.
constexpr conv_folds fold_of_image(const conv_shape& s, int channels) {
  if (!has_few_taps(s)) return many_taps;
  return channels * 4 <= whole_tile ? 4 : channels * 2 <= whole_tile ? 2 : 1;
}

/// Returns the fold for the gradient of the filters: the one whose tiles have the fewest empty
/// elements. Among equal folds it is the squarest, which reads the least memory.
constexpr conv_folds fold_of_filters(const conv_shape& s) {
  if (!has_few_taps(s)) return many_taps;
  const int filters = s.small_channels, seen = s.large_channels * s.taps();
  const auto area = [&](conv_folds fold) {
    const auto covered = [](long long n, int each) { return (n + each - 1) / each * each; };
    return covered(filters, whole_tile / static_cast<int>(fold)) *
           covered(seen, whole_tile * static_cast<int>(fold));
  };
  conv_folds best = 1;
  for (const conv_folds fold : {2u, 4u})
    if (area(fold) < area(best)) best = fold;
  return best;
}

/// Calls f.operator()<Fold>() with Fold equal to the run-time value `fold`, which must be in the
/// set Folds.
template <conv_folds Folds, class F>
void with_fold(conv_folds fold, const F& f) {
  static_assert(Folds != 0);
  constexpr conv_folds first = Folds & (~Folds + 1), others = Folds & ~first;
  if constexpr (others == 0) {
    f.template operator()<first>();
  } else {
    if (fold == first)
      f.template operator()<first>();
    else
      with_fold<others>(fold, f);
  }
}

}}}  // namespace lamina::engine::cuda
