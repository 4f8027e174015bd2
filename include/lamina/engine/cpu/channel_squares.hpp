// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/channel_squares.hpp - images with their channels apart, and rows of them with
// the channels of a vector side by side.
#pragma once

#include <cstddef>
#include <cstring>

#include <lamina/engine/cpu/transpose.hpp>

namespace lamina::engine::cpu {

namespace detail {

/// A square that is no whole one: `channels` by `columns`.
LAMINA_NOINLINE inline void gather_part(const float* from, std::ptrdiff_t stride, int channels,
                                        int columns, float* to) {
  alignas(64) float square[lanes * lanes] = {};
  alignas(64) float turned[lanes * lanes];
  if (columns == lanes) {
    for (int c = 0; c < channels; ++c)
      vector::load_unaligned(from + c * stride).store_aligned(square + c * lanes);
    return transpose_square(square, lanes, to, lanes);
  }
  for (int c = 0; c < channels; ++c)
    for (int i = 0; i < columns; ++i) square[c * lanes + i] = from[c * stride + i];
  transpose_square(square, lanes, turned, lanes);
  std::memcpy(to, turned, sizeof(float) * static_cast<std::size_t>(columns * lanes));
}
LAMINA_NOINLINE inline void scatter_part(const float* from, int channels, int columns, float* to,
                                         std::ptrdiff_t stride) {
  alignas(64) float square[lanes * lanes] = {};
  alignas(64) float turned[lanes * lanes];
  if (columns == lanes) {
    transpose_square(from, lanes, turned, lanes);
    for (int c = 0; c < channels; ++c)
      vector::load_aligned(turned + c * lanes).store_unaligned(to + c * stride);
    return;
  }
  std::memcpy(square, from, sizeof(float) * static_cast<std::size_t>(columns * lanes));
  transpose_square(square, lanes, turned, lanes);
  for (int c = 0; c < channels; ++c)
    for (int i = 0; i < columns; ++i) to[c * stride + i] = turned[c * lanes + i];
}

}  // namespace detail

/// to[x * lanes + c] = from[c * stride + x] for a vector of channels, of which `channels` are
/// there; the others become 0. The last square may repeat columns of the one before.
LAMINA_NOINLINE inline void gather_lanes(const float* from, std::ptrdiff_t stride, int channels,
                                         int columns, float* to) {
  const int some = columns < lanes ? columns : lanes;
  for (int next = 0; next < columns; next += lanes) {
    const int x = next + some > columns ? columns - some : next;
    if (channels == lanes && some == lanes)
      detail::transpose_square(from + x, stride, to + x * lanes, lanes);
    else
      detail::gather_part(from + x, stride, channels, some, to + x * lanes);
  }
}

/// to[c * stride + x] = from[x * lanes + c]: back again, `channels` of the vector.
LAMINA_NOINLINE inline void scatter_lanes(const float* from, int channels, int columns, float* to,
                                          std::ptrdiff_t stride) {
  const int some = columns < lanes ? columns : lanes;
  for (int next = 0; next < columns; next += lanes) {
    const int x = next + some > columns ? columns - some : next;
    if (channels == lanes && some == lanes)
      detail::transpose_square(from + x * lanes, lanes, to + x, stride);
    else
      detail::scatter_part(from + x * lanes, channels, some, to + x, stride);
  }
}

}  // namespace lamina::engine::cpu
