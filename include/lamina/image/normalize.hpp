// SPDX-License-Identifier: Apache-2.0
// lamina/image/normalize.hpp - subtracts a mean from each channel of an image and divides by a
// deviation.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/image/view.hpp>
#include <lamina/reader/random.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace image {

/// x = (x - mean[c]) / deviation[c] for channel c. A single mean or deviation applies to all
/// channels. Draws no random number. Throws lamina::error unless the number of means and deviations
/// is 1 or the number of channels, and for a deviation that is not above 0.
struct normalize {
  std::vector<float> mean{0}, deviation{1};

  void validate() const {
    if (mean.size() != deviation.size() || mean.empty())
      throw error(text("lamina: image::normalize: expected as many means as deviations, found ")
                  << mean.size() << " and " << deviation.size());
    for (const float d : deviation)
      if (!(d > 0))
        throw error(text("lamina: image::normalize: expected deviations above 0, found ")
                        .print("%g", static_cast<double>(d)));
  }
  void operator()(const view& image) const {
    const auto channels = static_cast<std::size_t>(image.channels);
    if (mean.size() != 1 && mean.size() != channels)
      throw error(text("lamina: image::normalize: expected 1 mean or one for each channel, ")
                  << channels << ", found " << mean.size());
    for (std::size_t c = 0; c < channels; ++c) {
      const float m = mean[mean.size() == 1 ? 0 : c], d = deviation[mean.size() == 1 ? 0 : c];
      float* const plane = image.data + c * image.plane();
      for (std::size_t p = 0; p < image.plane(); ++p) plane[p] = (plane[p] - m) / d;
    }
  }
  void operator()(const view& image, reader::random&) const { (*this)(image); }
};

}}}  // namespace lamina::image
