// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/conv_tile.hpp - chooses the tile of a convolution: about as high as the
// number of channels, because empty rows of a tile are multiplied too.
//
// The shape of a filter is known at compile time, so a program contains only the kernels of the
// tiles that its convolutions use. The choice depends on the shape, not on the device.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/conv/common.hpp>

namespace lamina::inline LAMINA_ABI::engine::cuda {

/// A fold of 1, 2 or 4 divides the rows of a product's tile by this factor and multiplies the
/// columns by it: on a device 64 x 64, 32 x 128 and 16 x 256. A set of folds is the sum of its
/// elements.
using conv_folds = unsigned;
/// The whole tile with the reader for filters that have more taps than a word has bits.
inline constexpr conv_folds many_taps = 8;

/// The argument of a group or call that is the filter or its gradient, and the attribute of the
/// operator that holds the number of groups.
struct filter_argument {
  int argument, groups;
};

/// Rows of a product's tile on a device. All backends choose by this number.
inline constexpr int whole_tile = 64;

/// The most taps that the three sides of a filter have together where a word has one bit for each,
/// and one more.
inline constexpr int most_filter_sides = 31;

constexpr bool has_few_taps(const conv_shape& s) {
  return s.side[0].filter + s.side[1].filter + s.side[2].filter <= most_filter_sides;
}

/// The lowest tile that has one row for each of the `channels` of the result.
constexpr conv_folds fold_of_image(const conv_shape& s, int channels) {
  if (!has_few_taps(s)) return many_taps;
  return channels * 4 <= whole_tile ? 4 : channels * 2 <= whole_tile ? 2 : 1;
}

/// The tile for the gradient of the filters: the one with the fewest empty elements; among equals
/// the squarest, which reads least.
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

/// Calls f.operator()<Fold>() for `fold`, which is an element of the set Folds.
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

}  // namespace lamina::inline LAMINA_ABI::engine::cuda
