// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/channel_position.cuh - finds the row, the channel and the position of an
// element from its index in a batch of images.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/common/argument_info.hpp>
#include <lamina/engine/cuda/body/divider.cuh>

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

/// All elements of a batch of images [N, C, H, W], one per thread.
struct image_elements {
  divider columns, plane, width;
  int count;

  explicit image_elements(const operand& o)
      : columns(o.columns),
        plane(o.dims[2] * o.dims[3]),
        width(o.dims[3]),
        count(o.rows * o.columns) {}

  /// The row and column of an element in its image are y and x.
  struct element {
    int row, at, channel, y, x;
  };
  LAMINA_INLINE LAMINA_FN element operator[](int i) const {
    const channel_position p(columns, plane, i);
    int x = p.inside;
    const int y = width.divide(x);
    return {p.row, p.at, p.channel, y, x};
  }
};

}}}  // namespace lamina::engine::cuda
