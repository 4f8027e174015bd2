// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/channel_position.cuh - finds the row and the channel of an element from
// its index in a batch of images.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/common/divider.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// The position of element i, counted over all rows: its row, its index in the row (`at`), its
/// channel, and its index in the channel (`inside`).
struct channel_position {
  int row, at, channel, inside;

  /// `columns` is the number of elements per row, `size` the number of elements per channel.
  LAMINA_INLINE LAMINA_FN channel_position(const divider& columns, const divider& size, int i)
      : at(i) {
    row = columns.divide(at);
    inside = at;
    channel = size.divide(inside);
  }
};

}}}  // namespace lamina::engine::cuda
