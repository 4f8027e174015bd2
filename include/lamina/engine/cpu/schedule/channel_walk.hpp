// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/schedule/channel_walk.hpp - runs the statements of a fused group over one
// image.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>

#include <lamina/engine/cpu/schedule/statement_runner.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu::detail {

/// Runs statements over elements [first, last) of image `row` of a mini-batch; an image has
/// `columns` elements in `channels` channels. `first` and `last` are multiples of the vector
/// length; a `last` after the image stands for its padded end. `head` points to the results for
/// this image of the operator that the statements are fused with, or is null.
template <class Runner>
LAMINA_INLINE void run_channels(
    const Runner& runner, int channels, int columns, int row, const typename Runner::real* head,
    std::ptrdiff_t first = 0, std::ptrdiff_t last = (std::numeric_limits<std::ptrdiff_t>::max)()) {
  using vector = typename Runner::vector;
  constexpr int lanes = static_cast<int>(vector::size);
  const int width = padded(columns), size = columns / channels;
  const int stop = last < width ? static_cast<int>(last) : width;
  const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(row) * width;
  const auto value = [&](int j) __attribute__((always_inline)) {
    return head == nullptr ? vector(0) : vector::load_aligned(head + j);
  };
  int several[bound(lanes)];
  int j = static_cast<int>(first);
  int channel = j == 0 || size == 0 ? 0 : (std::min)(j / size, channels - 1);
  for (int end = (channel + 1) * size; j < stop;) {
    for (; j >= end && channel + 1 < channels; end += size) ++channel;
    // Vectors that lie in one channel; the padding belongs to the last channel.
    const int whole = channel + 1 < channels && end < stop ? end - lanes : stop - lanes;
    for (; j <= whole; j += lanes) runner(value(j), {offset + j, row, j, channel});
    if (j >= stop || j >= end) continue;
    if (j + lanes <= end + size || channel + 2 == channels) {
      runner(value(j), {offset + j, row, j, channel, nullptr, end - j});
    } else {
      for (int l = 0, c = channel, next = end; l < lanes; ++l) {
        for (; j + l >= next && c + 1 < channels; next += size) ++c;
        several[l] = c;
      }
      runner(value(j), {offset + j, row, j, channel, several});
    }
    j += lanes;
  }
}

}}}  // namespace lamina::engine::cpu::detail
