// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/digits.hpp - 1,797 images of handwritten digits. They are compiled into the
// program, so no file is needed.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

#include <lamina/dataset/digits_data.hpp>
#include <lamina/dataset/table.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset::digits {

/// An image of a digit, and its label.
struct sample {
  std::array<float, 64> image;  ///< 8 rows of 8 pixels, 0 (paper) to 1 (ink)
  std::int64_t label;           ///< 0 to 9
};

/// Decodes the text of digits_data.hpp.
struct source {
  LAMINA_API sample at(std::size_t row) const;
};

/// The numbers of samples of train() and test().
inline constexpr std::size_t train_rows = 1437, test_rows = 360;

/// Return the UCI "Optical Recognition of Handwritten Digits" images that scikit-learn bundles, in
/// a fixed split: 1,437 rows for training and the other 360 rows for test. The rows are shuffled
/// with a fixed seed, and each part has the same fractions of the ten classes. Both results are
/// readers of `sample`.
inline table<source> train() { return {source{}, 0, train_rows}; }
inline table<source> test() { return {source{}, train_rows, train_rows + test_rows}; }

#if LAMINA_DEFINES

sample source::at(std::size_t row) const {
  constexpr std::size_t width = 65;
  const char* text =
      detail::parts[row / detail::rows_per_part] + row % detail::rows_per_part * width;
  sample s;
  for (std::size_t i = 0; i < 64; ++i) s.image[i] = static_cast<float>(text[i] - 'a') / 16.f;
  s.label = text[64] - '0';
  return s;
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset::digits
