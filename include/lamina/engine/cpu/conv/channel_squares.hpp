// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/conv/channel_squares.hpp - conversions between images, which store one channel
// after the other, and rows in which the values of several channels at one position are adjacent
// and fill a vector.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/cpu/gemm/transpose.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// to[x * lanes + c] = from[c * stride + x] for the `lanes` channels c of a vector. If the image
/// has only `channels` < lanes channels, the other lanes become 0. The function transposes squares
/// of lanes by lanes; the last square may overlap the previous square.
LAMINA_NOINLINE inline void gather_lanes(const float* from, std::ptrdiff_t stride, int channels,
                                         int columns, float* to) {
  const int some = columns < lanes ? columns : lanes;
  for (int next = 0; next < columns; next += lanes) {
    const int x = next + some > columns ? columns - some : next;
    if (channels == lanes && some == lanes)
      detail::transpose_square(from + x, stride, to + x * lanes, lanes);
    else
      detail::transpose_part(channels, some, from + x, stride, to + x * lanes, lanes, lanes);
  }
}

/// The inverse: to[c * stride + x] = from[x * lanes + c] for the first `channels` channels of the
/// vector.
LAMINA_NOINLINE inline void scatter_lanes(const float* from, int channels, int columns, float* to,
                                          std::ptrdiff_t stride) {
  const int some = columns < lanes ? columns : lanes;
  for (int next = 0; next < columns; next += lanes) {
    const int x = next + some > columns ? columns - some : next;
    if (channels == lanes && some == lanes)
      detail::transpose_square(from + x * lanes, lanes, to + x, stride);
    else
      detail::transpose_part(some, channels, from + x * lanes, lanes, to + x, stride, some);
  }
}

}}}  // namespace lamina::engine::cpu
