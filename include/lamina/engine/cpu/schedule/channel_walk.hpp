// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/schedule/channel_walk.hpp - runs the statements of a fused group over one
// image.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/cpu/schedule/statement_runner.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu::detail {

/// Runs statements over image `row` of a mini-batch; an image has `columns` elements in `channels`
/// channels. `head` points to the results for this image of the operator that the statements are
/// fused with, or is null.
template <class Runner>
LAMINA_INLINE void run_channels(const Runner& runner, int channels, int columns, int row,
                                const typename Runner::real* head) {
  using vector = typename Runner::vector;
  constexpr int lanes = static_cast<int>(vector::size);
  const int width = padded(columns), size = columns / channels;
  const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(row) * width;
  int several[bound(lanes)];
  for (int j = 0, channel = 0, end = size; j < width; j += lanes) {
    for (; j >= end && channel + 1 < channels; end += size) ++channel;
    const int* of = nullptr;
    if (j + lanes > end && channel + 1 < channels) {
      for (int l = 0, c = channel, next = end; l < lanes; ++l) {
        for (; j + l >= next && c + 1 < channels; next += size) ++c;
        several[l] = c;
      }
      of = several;
    }
    runner(head == nullptr ? vector(0) : vector::load_aligned(head + j),
           {offset + j, row, j, channel, of});
  }
}

}}}  // namespace lamina::engine::cpu::detail
