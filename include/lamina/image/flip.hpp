// SPDX-License-Identifier: Apache-2.0
// lamina/image/flip.hpp - mirrors images at random.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/image/view.hpp>
#include <lamina/reader/random.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace image {

/// Exchanges left and right with probability `horizontal`, and top and bottom with probability
/// `vertical`. Always draws two random numbers. Throws lamina::error for a probability outside of
/// [0, 1].
struct flip {
  float horizontal = 0.5f;
  float vertical = 0;

  void validate() const {
    for (const float p : {horizontal, vertical})
      if (!(p >= 0 && p <= 1))
        throw error((text("lamina: image::flip: expected a probability from 0 to 1, found "))
                        .print("%g", static_cast<double>(p)));
  }
  void operator()(const view& image, reader::random& random) const {
    const bool mirrored = random.chance(horizontal), upside_down = random.chance(vertical);
    for (int c = 0; c < image.channels; ++c) {
      if (mirrored)
        for (int y = 0; y < image.height; ++y)
          std::reverse(image.row(c, y), image.row(c, y) + image.width);
      if (upside_down)
        for (int y = 0; y < image.height / 2; ++y)
          std::swap_ranges(image.row(c, y), image.row(c, y) + image.width,
                           image.row(c, image.height - 1 - y));
    }
  }
};

}}}  // namespace lamina::image
