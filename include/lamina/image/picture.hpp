// SPDX-License-Identifier: Apache-2.0
// lamina/image/picture.hpp - an image of any size, and its conversion to another size.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/image/view.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace image {

/// An image of floats, channels first; 0 is black and 1 is white.
struct picture {
  int channels = 0, height = 0, width = 0;
  std::vector<float> pixels{};

  image::view view() { return {pixels.data(), channels, height, width}; }
};

/// How an image is changed to another aspect ratio.
enum class fit {
  /// Scaled so that it covers the result; what extends beyond it is cut off equally on two sides.
  cover,
  stretch  ///< height and width are scaled independently
};

namespace detail {

/// Computes the weights for resampling a row of `size` pixels to n results, which are evenly spaced
/// in [first, first + length). For each result, returns the index of its first source pixel, and
/// the weights of this pixel and of the pixels after it. The weights decrease linearly with the
/// distance and are 0 from a distance of one step between results (at least one pixel) on, so that
/// no pixel is skipped when an image shrinks.
inline std::vector<std::pair<int, std::vector<float>>> resize_weights(int size, float first,
                                                                      float length, int n) {
  std::vector<std::pair<int, std::vector<float>>> all;
  const float step = length / static_cast<float>(n), reach = (std::max)(step, 1.f);
  for (int i = 0; i < n; ++i) {
    const float centre = first + (static_cast<float>(i) + 0.5f) * step - 0.5f;
    const int begin = (std::max)(static_cast<int>(std::ceil(centre - reach)), 0),
              end = (std::min)(static_cast<int>(std::floor(centre + reach)), size - 1);
    std::vector<float> weights;
    float sum = 0;
    for (int k = begin; k <= end; ++k) {
      weights.push_back((std::max)(0.f, 1 - std::fabs(static_cast<float>(k) - centre) / reach));
      sum += weights.back();
    }
    for (float& w : weights) w /= sum;
    all.emplace_back(begin, std::move(weights));
  }
  return all;
}

}  // namespace detail

/// Resamples an image to `height` rows of `width` pixels, first along the rows, then along the
/// columns. If the image shrinks, a new pixel is a weighted mean of the pixels that it covers; if
/// the image grows, it is interpolated bilinearly. Throws lamina::error if either image has no
/// pixels.
inline picture resized(const picture& from, int height, int width, fit how = fit::cover) {
  if (height <= 0 || width <= 0 || from.height <= 0 || from.width <= 0)
    throw error(text("lamina: image::resized: expected heights and widths above 0, found ")
                << from.height << " * " << from.width << " to " << height << " * " << width);
  float rows = static_cast<float>(from.height), columns = static_cast<float>(from.width);
  if (how == fit::cover) {
    const float scale =
        (std::min)(rows / static_cast<float>(height), columns / static_cast<float>(width));
    rows = scale * static_cast<float>(height);
    columns = scale * static_cast<float>(width);
  }
  const auto down = detail::resize_weights(
      from.height, (static_cast<float>(from.height) - rows) / 2, rows, height);
  const auto right = detail::resize_weights(
      from.width, (static_cast<float>(from.width) - columns) / 2, columns, width);
  picture to{from.channels, height, width, {}};
  to.pixels.resize(to.view().size());
  const auto source_width = static_cast<std::size_t>(from.width);
  const float* source = from.pixels.data();
  std::vector<float> narrow(static_cast<std::size_t>(from.height) *
                            static_cast<std::size_t>(width));
  float* result = to.pixels.data();
  for (int c = 0; c < from.channels; ++c) {
    float* at = narrow.data();
    for (int y = 0; y < from.height; ++y, source += source_width)
      for (const auto& [begin, weights] : right) {
        float sum = 0;
        for (std::size_t k = 0; k < weights.size(); ++k)
          sum += weights[k] * source[static_cast<std::size_t>(begin) + k];
        *at++ = sum;
      }
    for (const auto& [begin, weights] : down)
      for (std::size_t x = 0; x < static_cast<std::size_t>(width); ++x) {
        float sum = 0;
        for (std::size_t k = 0; k < weights.size(); ++k)
          sum +=
              weights[k] *
              narrow[(static_cast<std::size_t>(begin) + k) * static_cast<std::size_t>(width) + x];
        *result++ = sum;
      }
  }
  return to;
}

}}}  // namespace lamina::image
