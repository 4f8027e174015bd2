// SPDX-License-Identifier: Apache-2.0
// lamina/image/view.hpp - a view of an image in memory that it does not own.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

namespace lamina { inline namespace LAMINA_ABI { namespace image {

/// A view of an image of floats: all rows of the first channel, then all rows of the second
/// channel, and so on.
struct view {
  float* data = nullptr;
  int channels = 0, height = 0, width = 0;

  /// Returns the number of pixels of one channel.
  std::size_t plane() const {
    return static_cast<std::size_t>(height) * static_cast<std::size_t>(width);
  }
  /// Returns the number of floats.
  std::size_t size() const { return static_cast<std::size_t>(channels) * plane(); }
  /// Returns the first pixel of a row.
  float* row(int channel, int y) const {
    return data + static_cast<std::size_t>(channel) * plane() +
           static_cast<std::size_t>(y) * static_cast<std::size_t>(width);
  }
  /// Returns the value of a pixel in a channel. The indices are not checked.
  float& operator()(int channel, int y, int x) const { return row(channel, y)[x]; }
};

/// Returns the lightness of a pixel. For three channels it is 0.299 red + 0.587 green + 0.114 blue
/// (ITU-R BT.601), otherwise the mean of the channels.
inline float lightness(const view& image, std::size_t pixel) {
  const std::size_t plane = image.plane();
  if (image.channels == 3)
    return 0.299f * image.data[pixel] + 0.587f * image.data[plane + pixel] +
           0.114f * image.data[2 * plane + pixel];
  float sum = 0;
  for (int c = 0; c < image.channels; ++c)
    sum += image.data[static_cast<std::size_t>(c) * plane + pixel];
  return sum / static_cast<float>(image.channels);
}

}}}  // namespace lamina::image
