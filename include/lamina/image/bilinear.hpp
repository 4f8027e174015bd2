// SPDX-License-Identifier: Apache-2.0
// lamina/image/bilinear.hpp - bilinear interpolation between the pixels of an image.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>

namespace lamina { inline namespace LAMINA_ABI { namespace image {

/// Returns the value at (y, x) of a plane of height * width pixels; the centres of the pixels have
/// integer coordinates. The value is the mean of the four pixels around (y, x), weighted by their
/// distance. Pixels outside of the plane have the value `value`.
inline float bilinear(const float* plane, int height, int width, float y, float x, float value) {
  // At a distance of 1 or more from the plane, all four pixels are `value`. A coordinate that is
  // NaN has the same result.
  if (!(y > -1 && y < static_cast<float>(height) && x > -1 && x < static_cast<float>(width)))
    return value;
  const float top = std::floor(y), left = std::floor(x), down = y - top, right = x - left;
  const int row = static_cast<int>(top), column = static_cast<int>(left);
  const auto at = [=](int r, int c) {
    return r < 0 || r >= height || c < 0 || c >= width ? value : plane[r * width + c];
  };
  // A pixel with weight 0 is not read, because it may be infinite, and 0 * infinity is NaN.
  const auto between = [](float a, float b, float weight) {
    return weight == 0 ? a : a * (1 - weight) + b * weight;
  };
  const float above = between(at(row, column), at(row, column + 1), right);
  return down == 0
             ? above
             : between(above, between(at(row + 1, column), at(row + 1, column + 1), right), down);
}

}}}  // namespace lamina::image
