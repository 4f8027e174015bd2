// SPDX-License-Identifier: Apache-2.0
// lamina/image/crop.hpp - replaces an image by a random part of it, which has the size of the
// image.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/image/bilinear.hpp>
#include <lamina/image/view.hpp>
#include <lamina/reader/random.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace image {

/// Surrounds the image with `padding` pixels of `value` on each side, and cuts out a random part of
/// the size of the image. All (2 padding + 1)^2 parts are equally likely. Draws two random numbers.
/// Throws lamina::error for a padding outside of [0, 65535].
struct crop {
  int padding = 4;
  float value = 0;

  void validate() const {
    if (padding < 0 || padding > 65535)
      throw error(text("lamina: image::crop: expected a padding from 0 to 65535, found ")
                  << padding);
  }
  void operator()(const view& image, reader::random& random) const {
    const auto end = 2 * static_cast<std::uint32_t>(padding) + 1;
    const int down = static_cast<int>(random.below(end)) - padding;
    const int right = static_cast<int>(random.below(end)) - padding;
    const std::vector<float> old(image.data, image.data + image.size());
    for (int c = 0; c < image.channels; ++c)
      for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x) {
          const int row = y + down, column = x + right;
          const bool inside = row >= 0 && row < image.height && column >= 0 && column < image.width;
          const std::ptrdiff_t from = image.row(c, inside ? row : 0) - image.data;
          image(c, y, x) = inside ? old[static_cast<std::size_t>(from + column)] : value;
        }
  }
};

/// Cuts out a random rectangle and stretches it to the size of the image with bilinear
/// interpolation. The area of the rectangle is a fraction of the area of the image that is drawn
/// from `area`. The aspect ratio (width / height) of the rectangle is that of the image times a
/// factor that is drawn from `aspect`, uniformly in the logarithm. A rectangle that does not fit is
/// clipped to the image. Draws four random numbers. Throws lamina::error unless 0 < low <= high in
/// both ranges and `area` is at most 1.
struct crop_and_stretch {
  struct range {
    float low, high;
  };
  range area{0.25f, 1};
  range aspect{0.75f, 4.f / 3};

  void validate() const {
    for (const range& r : {area, aspect})
      if (!(r.low > 0 && r.low <= r.high && r.high < 1e6f))
        throw error(
            text("lamina: image::crop_and_stretch: expected ranges with 0 < low <= high, found ")
                .print("%g", static_cast<double>(r.low))
                .print(" to %g", static_cast<double>(r.high)));
    if (!(area.high <= 1))
      throw error(text("lamina: image::crop_and_stretch: expected an area of 1 at most, found ")
                      .print("%g", static_cast<double>(area.high)));
  }
  void operator()(const view& image, reader::random& random) const {
    const float fraction = random.uniform(area.low, area.high);
    const float side_ratio = std::exp(random.uniform(std::log(aspect.low), std::log(aspect.high)));
    const float whole_height = static_cast<float>(image.height),
                whole_width = static_cast<float>(image.width);
    const float height = whole_height * (std::min)(1.f, std::sqrt(fraction / side_ratio)),
                width = whole_width * (std::min)(1.f, std::sqrt(fraction * side_ratio));
    const float top = random.uniform(0, whole_height - height),
                left = random.uniform(0, whole_width - width);
    const float down = height / whole_height, right = width / whole_width;
    const std::vector<float> old(image.data, image.data + image.size());
    // Pixel i covers [i, i + 1], so its centre is at i + 1/2. Positions beyond an edge get the
    // value at the edge.
    const auto source = [](int i, float step, float first, int size) {
      const float at = first + (static_cast<float>(i) + 0.5f) * step - 0.5f;
      return (std::min)((std::max)(at, 0.f), static_cast<float>(size - 1));
    };
    for (int c = 0; c < image.channels; ++c)
      for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x)
          image(c, y, x) = bilinear(old.data() + static_cast<std::size_t>(c) * image.plane(),
                                    image.height, image.width, source(y, down, top, image.height),
                                    source(x, right, left, image.width), 0);
  }
};

}}}  // namespace lamina::image
