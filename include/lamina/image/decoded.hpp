// SPDX-License-Identifier: Apache-2.0
// lamina/image/decoded.hpp - the pixels that a decoder returns, and their conversion to a picture.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/image/picture.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace image {

/// The pixels of a decoded file, row by row. A pixel has 1 sample (grey), 2 (grey and alpha), 3
/// (red, green, blue) or 4 (red, green, blue and alpha); the samples of a pixel are adjacent. A
/// sample has one or two bytes.
struct decoded {
  int samples = 0, height = 0, width = 0, bytes = 1;
  std::vector<unsigned char> data{};
};

namespace detail {

/// Allocates memory for an image. Throws format_error for more than 2^26 pixels, because the header
/// of a damaged file can state any size.
LAMINA_COLD inline decoded room_for(const std::string& path, std::uint64_t samples,
                                    std::uint64_t height, std::uint64_t width, int bytes) {
  constexpr std::uint64_t most = std::uint64_t{1} << 26;
  if (height == 0 || width == 0 || height > most / width)
    throw format_error(path, 0,
                       "expected an image of 1 to 67108864 pixels, found " +
                           std::to_string(height) + " rows of " + std::to_string(width));
  return {static_cast<int>(samples), static_cast<int>(height), static_cast<int>(width), bytes,
          std::vector<unsigned char>(samples * height * width * static_cast<unsigned>(bytes))};
}

}  // namespace detail

/// Converts decoded pixels to a picture with values from 0 to 1. Where alpha is below 1, blends the
/// pixel with `background`. With `channels` = 1, the result is the lightness; with 3, a grey image
/// gets three equal channels; with 0, the result has as many channels as the file has without
/// alpha.
inline picture to_picture(const decoded& from, int channels, float background) {
  const int own = from.samples < 3 ? 1 : 3;
  picture to{channels == 0 ? own : channels, from.height, from.width, {}};
  to.pixels.resize(to.view().size());
  const std::size_t plane = to.view().plane(), samples = static_cast<std::size_t>(from.samples);
  const auto sample = [&](std::size_t i) {
    if (from.bytes == 1) return static_cast<float>(from.data[i]) / 255;
    std::uint16_t wide;
    std::memcpy(&wide, &from.data[2 * i], sizeof wide);
    return static_cast<float>(wide) / 65535;
  };
  for (std::size_t p = 0; p < plane; ++p) {
    const float alpha = from.samples % 2 == 0 ? sample(p * samples + samples - 1) : 1;
    float color[3];
    for (std::size_t c = 0; c < 3; ++c) {
      const float x = sample(p * samples + (own == 1 ? 0 : c));
      color[c] = alpha == 1 ? x : x * alpha + background * (1 - alpha);
    }
    if (to.channels == 1)
      to.pixels[p] = own == 1 ? color[0] : lightness({color, 3, 1, 1}, 0);
    else
      for (std::size_t c = 0; c < 3; ++c) to.pixels[c * plane + p] = color[c];
  }
  return to;
}

}}}  // namespace lamina::image
