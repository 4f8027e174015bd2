// SPDX-License-Identifier: Apache-2.0
// lamina/image/bilinear.hpp - values of an image between its pixels.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>

namespace lamina::inline LAMINA_ABI::image {

/// The value at (y, x) of a plane of height * width pixels, whose centres have whole coordinates:
/// the four pixels around, weighted by their distance. A pixel outside of the plane is `value`.
inline float bilinear(const float* plane, int height, int width, float y, float x, float value) {
  // Farther outside all four pixels are `value`; so is NaN.
  if (!(y > -1 && y < static_cast<float>(height) && x > -1 && x < static_cast<float>(width)))
    return value;
  const float top = std::floor(y), left = std::floor(x), down = y - top, right = x - left;
  const int row = static_cast<int>(top), column = static_cast<int>(left);
  const auto at = [=](int r, int c) {
    return r < 0 || r >= height || c < 0 || c >= width ? value : plane[r * width + c];
  };
  // A pixel without weight is not read, for it may be infinite.
  const auto between = [](float a, float b, float weight) {
    return weight == 0 ? a : a * (1 - weight) + b * weight;
  };
  const float above = between(at(row, column), at(row, column + 1), right);
  return down == 0
             ? above
             : between(above, between(at(row + 1, column), at(row + 1, column + 1), right), down);
}

}  // namespace lamina::inline LAMINA_ABI::image
