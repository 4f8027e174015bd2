// SPDX-License-Identifier: Apache-2.0
// lamina/image/affine.hpp - rotates, shifts, scales and shears images at random.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <numbers>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/image/bilinear.hpp>
#include <lamina/image/view.hpp>
#include <lamina/reader/random.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace image {

/// Moves the pixel at p to s R(a) S(b) p + t, where positions are relative to the centre of the
/// image. The scale s is drawn from U(1 - scale, 1 + scale), and the angle a of the rotation R from
/// U(-degrees, degrees). The shear S is x += tan(b) y, with the angle b from U(-shear, shear) in
/// degrees. The shift t is drawn from U(-shift, shift) times width and height. The result is
/// interpolated bilinearly between pixels; where it lies outside of the image, it is `value`. Draws
/// five random numbers. If all options are 0, the image is unchanged, bit for bit. Throws
/// lamina::error for a negative option, degrees above 180, a shear of 90 or more, and a scale of 1
/// or more.
struct affine {
  float degrees = 0, shift = 0, scale = 0, shear = 0;
  float value = 0;

  void validate() const {
    const auto within = [](const char* name, float option, float end, bool closed) {
      if (!(option >= 0 && (option < end || (closed && option == end))))
        throw error((text("lamina: image::affine: expected ")
                     << name << " from 0 to " << (closed ? "" : "below "))
                        .print("%g", static_cast<double>(end))
                        .print(", found %g", static_cast<double>(option)));
    };
    within("degrees", degrees, 180, true);
    within("a shift", shift, 1, true);
    within("a scale", scale, 1, false);
    within("a shear", shear, 90, false);
  }
  void operator()(const view& image, reader::random& random) const {
    constexpr float degree = std::numbers::pi_v<float> / 180;
    const float angle = random.uniform(-degrees, degrees) * degree;
    const float right = random.uniform(-shift, shift) * static_cast<float>(image.width);
    const float down = random.uniform(-shift, shift) * static_cast<float>(image.height);
    const float factor = random.uniform(1 - scale, 1 + scale);
    const float lean = std::tan(random.uniform(-shear, shear) * degree);
    const float c = std::cos(angle) / factor, s = std::sin(angle) / factor;
    const float middle_x = static_cast<float>(image.width - 1) / 2,
                middle_y = static_cast<float>(image.height - 1) / 2;
    const std::vector<float> old(image.data, image.data + image.size());
    for (int y = 0; y < image.height; ++y)
      for (int x = 0; x < image.width; ++x) {
        const float to_x = static_cast<float>(x) - middle_x - right,
                    to_y = static_cast<float>(y) - middle_y - down;
        const float from_y = c * to_y - s * to_x;
        const float from_x = c * to_x + s * to_y - lean * from_y;
        for (int k = 0; k < image.channels; ++k)
          image(k, y, x) =
              bilinear(old.data() + static_cast<std::size_t>(k) * image.plane(), image.height,
                       image.width, from_y + middle_y, from_x + middle_x, value);
      }
  }
};

}}}  // namespace lamina::image
