// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/channel_position.cuh - where one of all elements of some images lies.
#pragma once

#include <lamina/core/config.hpp>
#include <lamina/engine/cuda/body/divider.cuh>

namespace lamina::engine::cuda {

/// Of element i of all rows: its row, its place in the row, its channel, its place in the channel.
struct channel_position {
  int row, at, channel, inside;

  /// `columns` of a row, `size` of a channel.
  LAMINA_INLINE LAMINA_FN channel_position(const divider& columns, const divider& size, int i)
      : at(i) {
    row = columns.divide(at);
    inside = at;
    channel = size.divide(inside);
  }
};

}  // namespace lamina::engine::cuda
