// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region/definition.hpp - ranges of rows and columns of images, for all operators
// on regions.
#pragma once

#include <lamina/core/config.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// A range of rows or columns, `end` not included.
struct image_range {
  int begin, end;
};

/// Converts an integral float to an int. Numbers far outside of every image become the nearer of
/// +-2^28, so that a sum of a few such numbers still fits into an int. NaN becomes 0.
LAMINA_FN inline int bounded_int(float whole) {
  constexpr int most = 1 << 28;
  if (!(whole < static_cast<float>(most))) return whole == whole ? most : 0;
  return whole > -static_cast<float>(most) ? static_cast<int>(whole) : -most;
}

}}  // namespace lamina
