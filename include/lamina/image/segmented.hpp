// SPDX-License-Identifier: Apache-2.0
// lamina/image/segmented.hpp - decodes images with a class per pixel. Programs must link libpng and
// libjpeg.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/dataset/voc2012.hpp>
#include <lamina/image/decoded.hpp>
#include <lamina/image/jpeg.hpp>
#include <lamina/image/picture.hpp>
#include <lamina/image/png.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace image {

/// An image of any size, and the class of each of its pixels.
struct segmented_picture {
  picture image;                        ///< red, green and blue from 0 to 1
  std::vector<std::uint8_t> classes{};  ///< rows of the image
};

/// Decodes a photograph of dataset::voc2012 and its mask, in the size of the files. Throws
/// format_error for a damaged file, a mask without a palette or grey values of 8 bits, and a mask
/// of another size than the photograph. Fluid: dataset.voc2012, whose samples have rows of
/// interleaved bytes.
LAMINA_COLD inline segmented_picture decode_segmented(const dataset::voc2012::sample& from) {
  const std::string mask_name = from.name + " (mask)";
  segmented_picture to{to_picture(decode_jpeg(from.bytes, from.name, false), 3, 1), {}};
  decoded mask = decode_png(from.mask, mask_name, png_palette::indices);
  if (mask.height != to.image.height || mask.width != to.image.width)
    throw format_error(mask_name, 0,
                       text("expected a mask of ")
                           << to.image.height << " * " << to.image.width << " pixels, found "
                           << mask.height << " * " << mask.width);
  to.classes = std::move(mask.data);
  return to;
}

/// An image of a fixed size, and the classes of its pixels.
struct segmented_image {
  std::vector<float> image;           ///< channels first, from 0 to 1
  std::vector<std::int64_t> classes;  ///< a class per pixel
};

/// The type of the function object that load_segmented() makes.
template <int H, int W>
struct segmented_loader {
  image::fit how = image::fit::stretch;

  segmented_image operator()(const dataset::voc2012::sample& from) const {
    segmented_picture read = decode_segmented(from);
    segmented_image to{{}, std::vector<std::int64_t>(std::size_t{H} * W)};
    float rows = static_cast<float>(read.image.height),
          columns = static_cast<float>(read.image.width);
    const float scale = (std::min)(rows / H, columns / W);
    if (how == image::fit::cover) rows = scale * H, columns = scale * W;
    const auto nearest = [](int i, int n, float length, int size) {
      const float first = (static_cast<float>(size) - length) / 2;
      const float at = first + (static_cast<float>(i) + 0.5f) * length / static_cast<float>(n);
      return static_cast<std::size_t>((std::min)(static_cast<int>(at), size - 1));
    };
    const auto width = static_cast<std::size_t>(read.image.width);
    auto next = to.classes.begin();
    for (int y = 0; y < H; ++y)
      for (int x = 0; x < W; ++x)
        *next++ = read.classes[nearest(y, H, rows, read.image.height) * width +
                               nearest(x, W, columns, read.image.width)];
    if (read.image.height != H || read.image.width != W)
      read.image = resized(read.image, H, W, how);
    to.image = std::move(read.image.pixels);
    return to;
  }
};

/// Makes a function for reader::xmap that decodes a sample of dataset::voc2012 to an image of H * W
/// pixels, which resized() resamples, and a class per pixel, which is the class of the nearest
/// pixel in the file:
///   voc2012::read(path).train() | reader::xmap(image::load_segmented<128, 128>())
template <int H, int W>
requires(H > 0 && W > 0) segmented_loader<H, W> load_segmented(fit how = fit::stretch) {
  return {how};
}

}}}  // namespace lamina::image
