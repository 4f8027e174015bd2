// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/channel_position.cuh - the row and the channel of an element, from its
// index in all images.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/divider.cuh>

namespace lamina::inline LAMINA_ABI::engine::cuda {

/// The row of element i of all rows, its index in the row, its channel, and its index in the
/// channel.
struct channel_position {
  int row, at, channel, inside;

  /// `columns`: elements per row; `size`: elements per channel.
  LAMINA_INLINE LAMINA_FN channel_position(const divider& columns, const divider& size, int i)
      : at(i) {
    row = columns.divide(at);
    inside = at;
    channel = size.divide(inside);
  }
};

}  // namespace lamina::inline LAMINA_ABI::engine::cuda
