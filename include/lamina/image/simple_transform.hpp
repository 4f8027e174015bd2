// SPDX-License-Identifier: Apache-2.0
// lamina/image/simple_transform.hpp - converts JPEG files to inputs of networks in the way of
// PaddlePaddle. Programs must link libjpeg.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/image/decoded.hpp>
#include <lamina/image/jpeg.hpp>
#include <lamina/reader/random.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace image {

namespace detail {

/// Cubic interpolation with a = -3/4, as OpenCV's INTER_CUBIC computes it for bytes. A result is
/// computed from four source pixels; `first` is the index of the first, and the weights are
/// multiples of 1/2048.
struct cubic_weights {
  int first;
  int weights[4];
};
inline std::vector<cubic_weights> cubic_resize(int size, int n) {
  std::vector<cubic_weights> all;
  const double scale = 1 / (static_cast<double>(n) / size);
  for (int i = 0; i < n; ++i) {
    float x = static_cast<float>((i + 0.5) * scale - 0.5);
    const int left = static_cast<int>(std::floor(x));
    x -= static_cast<float>(left);
    constexpr float a = -0.75f;
    const auto outer = [](float d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
    const auto inner = [](float d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
    const float w[3] = {outer(x + 1), inner(x), inner(1 - x)};
    cubic_weights to{left - 1, {}};
    const float last = 1 - w[0] - w[1] - w[2];
    for (int k = 0; k < 4; ++k)
      to.weights[k] = static_cast<int>(std::lrint((k < 3 ? w[k] : last) * 2048));
    all.push_back(to);
  }
  return all;
}

/// Resamples an image of bytes. Source pixels beyond an edge have the value of the pixel at the
/// edge.
LAMINA_COLD inline decoded resized_cubic(const decoded& from, int height, int width) {
  if (height == from.height && width == from.width) return from;
  const auto down = cubic_resize(from.height, height), right = cubic_resize(from.width, width);
  const auto samples = static_cast<std::size_t>(from.samples);
  const std::size_t row = samples * static_cast<std::size_t>(width);
  const auto within = [](int i, int size) {
    return static_cast<std::size_t>((std::max)(0, (std::min)(i, size - 1)));
  };
  std::vector<int> narrow(row * static_cast<std::size_t>(from.height));
  auto next = narrow.begin();
  for (int y = 0; y < from.height; ++y) {
    const unsigned char* line = from.data.data() + samples * static_cast<std::size_t>(y) *
                                                       static_cast<std::size_t>(from.width);
    for (const cubic_weights& r : right)
      for (std::size_t c = 0; c < samples; ++c) {
        int sum = 0;
        for (int k = 0; k < 4; ++k)
          sum += r.weights[k] * line[samples * within(r.first + k, from.width) + c];
        *next++ = sum;
      }
  }
  decoded to{from.samples, height, width, 1, {}};
  to.data.reserve(row * static_cast<std::size_t>(height));
  for (const cubic_weights& d : down)
    for (std::size_t x = 0; x < row; ++x) {
      std::int64_t sum = 1 << 21;
      for (int k = 0; k < 4; ++k)
        sum += std::int64_t{d.weights[k]} * narrow[within(d.first + k, from.height) * row + x];
      to.data.push_back(static_cast<unsigned char>(
          (std::max)(std::int64_t{0}, (std::min)(sum >> 22, std::int64_t{255}))));
    }
  return to;
}

}  // namespace detail

/// A function for reader::map and reader::xmap that converts a JPEG file to an image. It resamples
/// the image so that its shorter side has `resize_size` pixels, and cuts out `crop_size` *
/// `crop_size` pixels. If `is_train`, it cuts at a random position and mirrors with probability
/// 1/2; otherwise it cuts in the middle. The result has the channels blue, green, red, as in
/// OpenCV, one after the other; a float is the value from 0 to 255 minus the mean of its channel.
///   flowers.train() | reader::xmap(image::simple_transform{.is_train = true}, {.threads = 4})
/// A sample must have the fields `bytes`, `label` and, for errors, `name`, as the samples of
/// dataset::flowers. Values may differ from those of OpenCV by 1. If `is_train`, draws three random
/// numbers. Throws format_error for a damaged file, and lamina::error for a crop that is larger
/// than the image. Fluid: dataset.image.simple_transform; the defaults are those of
/// dataset.flowers.
struct simple_transform {
  /// The converted image, with the label of the sample.
  struct result {
    std::vector<float> image;  ///< 3 * crop_size * crop_size floats
    std::int64_t label;
  };

  bool is_train = false;
  int resize_size = 256, crop_size = 224;
  float mean[3] = {103.94f, 116.78f, 123.68f};  ///< the means of blue, green and red

  template <class Sample>
  result operator()(const Sample& from, std::uint64_t /*position*/, std::uint64_t /*pass*/,
                    reader::random& random) const {
    return {transformed(from.bytes, from.name, random), from.label};
  }

  /// Converts a JPEG file in memory; `path` is its name in errors.
  LAMINA_COLD std::vector<float> transformed(std::string_view bytes, const std::string& path,
                                             reader::random& random) const {
    if (crop_size < 1 || crop_size > resize_size || resize_size > 65535)
      throw error(text("lamina: image::simple_transform: expected 1 to ")
                  << resize_size << " pixels of a crop, found " << crop_size);
    const decoded all = resized_short(decode_jpeg(bytes, path), path);
    int top = all.height - crop_size, left = all.width - crop_size;
    bool is_mirrored = false;
    if (is_train) {
      top = static_cast<int>(random.below(static_cast<std::uint32_t>(top) + 1));
      left = static_cast<int>(random.below(static_cast<std::uint32_t>(left) + 1));
      is_mirrored = random.below(2) == 0;
    } else {
      top /= 2, left /= 2;
    }
    const auto samples = static_cast<std::size_t>(all.samples);
    std::vector<float> to;
    to.reserve(3 * static_cast<std::size_t>(crop_size) * static_cast<std::size_t>(crop_size));
    for (std::size_t c = 0; c < 3; ++c)
      for (int y = 0; y < crop_size; ++y)
        for (int x = 0; x < crop_size; ++x) {
          const int column = left + (is_mirrored ? crop_size - 1 - x : x);
          const std::size_t pixel =
              static_cast<std::size_t>(top + y) * static_cast<std::size_t>(all.width) +
              static_cast<std::size_t>(column);
          to.push_back(static_cast<float>(all.data[pixel * samples + (samples == 1 ? 0 : 2 - c)]) -
                       mean[c]);
        }
    return to;
  }

 private:
  /// Returns the image resampled so that its shorter side has resize_size pixels.
  decoded resized_short(const decoded& from, const std::string& path) const {
    const bool is_high = from.height > from.width;
    const std::int64_t longer = (std::max)(from.height, from.width),
                       shorter = (std::min)(from.height, from.width),
                       size = resize_size * longer / shorter;
    if (size * resize_size > std::int64_t{1} << 26)
      throw format_error(path, 0,
                         text("expected an image of at most 67108864 pixels when its shorter side "
                              "has ")
                             << resize_size << ", found " << size << " at the longer one");
    const int rows = is_high ? static_cast<int>(size) : resize_size,
              columns = is_high ? resize_size : static_cast<int>(size);
    return detail::resized_cubic(from, rows, columns);
  }
};

}}}  // namespace lamina::image
