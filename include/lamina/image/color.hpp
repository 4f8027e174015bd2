// SPDX-License-Identifier: Apache-2.0
// lamina/image/color.hpp - changes brightness, contrast and saturation at random.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/image/view.hpp>
#include <lamina/reader/random.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace image {

/// Changes colours at random. Each option draws a factor f from U(1 - option, 1 + option). The
/// changes are applied in this order, and x is limited to [low, high] after each:
///   brightness: x = f x
///   contrast:   x = m + f (x - m), m the mean lightness of the image
///   saturation: x = l + f (x - l), l the lightness of the pixel; for three channels only
/// An option of 0 changes nothing. `low` and `high` must be the range of the pixels; otherwise
/// colours are cut off. Draws three random numbers. Throws lamina::error for an option outside of
/// [0, 1], and for low above high.
struct color {
  float brightness = 0, contrast = 0, saturation = 0;
  float low = 0, high = 1;

  void validate() const {
    for (const float option : {brightness, contrast, saturation})
      if (!(option >= 0 && option <= 1))
        throw error(text("lamina: image::color: expected an option from 0 to 1, found ")
                        .print("%g", static_cast<double>(option)));
    if (!(low <= high))
      throw error(text("lamina: image::color: expected low <= high, found ")
                      .print("%g", static_cast<double>(low))
                      .print(" and %g", static_cast<double>(high)));
  }
  void operator()(const view& image, reader::random& random) const {
    const float brighter = random.uniform(1 - brightness, 1 + brightness);
    const float stronger = random.uniform(1 - contrast, 1 + contrast);
    const float fuller = random.uniform(1 - saturation, 1 + saturation);
    const std::size_t plane = image.plane();
    if (brightness > 0)
      for (std::size_t i = 0; i < image.size(); ++i) image.data[i] = cut(brighter * image.data[i]);
    if (contrast > 0) {
      double sum = 0;
      for (std::size_t p = 0; p < plane; ++p) sum += static_cast<double>(lightness(image, p));
      const float mean = static_cast<float>(sum / static_cast<double>(plane));
      for (std::size_t i = 0; i < image.size(); ++i)
        image.data[i] = cut(mean + stronger * (image.data[i] - mean));
    }
    if (saturation > 0 && image.channels == 3)
      for (std::size_t p = 0; p < plane; ++p) {
        const float grey = lightness(image, p);
        for (std::size_t c = 0; c < 3; ++c)
          image.data[c * plane + p] = cut(grey + fuller * (image.data[c * plane + p] - grey));
      }
  }

 private:
  // NaN stays NaN.
  float cut(float x) const { return x < low ? low : x > high ? high : x; }
};

}}}  // namespace lamina::image
