// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/mnist.hpp - reads MNIST from its four files.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/dataset/idx.hpp>
#include <lamina/dataset/table.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset::mnist {

/// An image of a digit, and its label.
struct sample {
  std::array<float, 784> image;  ///< 28 rows of 28 pixels, -1 (paper) to 1 (ink)
  std::int64_t label;            ///< 0 to 9
};

/// Images and labels as the files store them. All tables of a source share them.
class source {
 public:
  source(std::vector<std::uint8_t> pixels, std::vector<std::uint8_t> labels)
      : data_(std::make_shared<const data>(data{std::move(pixels), std::move(labels)})) {}

  /// Makes the sample of a row, with Fluid's scale: pixel / 255 * 2 - 1.
  LAMINA_API sample at(std::size_t row) const;

 private:
  struct data {
    std::vector<std::uint8_t> pixels, labels;
  };
  std::shared_ptr<const data> data_;
};

/// Reads two IDX files: images of 28 x 28 unsigned bytes, and labels 0 to 9. Throws format_error
/// for another shape or element type, for different numbers of images and labels, and for a label
/// above 9.
LAMINA_API table<source> read(const std::string& images_path, const std::string& labels_path);

namespace detail {

LAMINA_API std::string find(const std::string& directory, const std::string& name);

inline table<source> read_pair(const std::string& directory, const std::string& prefix) {
  const std::string images = find(directory, prefix + "-images-idx3-ubyte");
  return read(images, find(directory, prefix + "-labels-idx1-ubyte"));
}

#if LAMINA_DEFINES

std::string find(const std::string& directory, const std::string& name) {
  for (const char* suffix : {".gz", ""}) {
    std::string path = (std::filesystem::path(directory) / (name + suffix)).string();
    if (std::error_code ignored; std::filesystem::exists(path, ignored)) return path;
  }
  throw error("lamina: dataset::mnist: expected " + name + ".gz or " + name + " in directory \"" +
              directory + "\", found neither");
}

#endif  // LAMINA_DEFINES

}  // namespace detail

/// Returns the 60,000 training images from the files train-images-idx3-ubyte and
/// train-labels-idx1-ubyte in `directory`. Each file may be compressed, with the ending .gz. Throws
/// the errors of read, and lamina::error for a missing file. Fluid: dataset.mnist.train.
inline table<source> train(const std::string& directory) {
  return detail::read_pair(directory, "train");
}

/// Returns the 10,000 test images from the files t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte;
/// see train.
inline table<source> test(const std::string& directory) {
  return detail::read_pair(directory, "t10k");
}

/// The samples of one file, divided into samples for training and samples for test.
struct halves {
  table<source> train, test;
};

/// Reads only the test files and divides their images: the first `train_rows` for training, the
/// other images for test. It is for examples for which a download of 1.6 MB is enough. Throws
/// lamina::error if there are fewer than `train_rows` images.
inline halves split_test(const std::string& directory, std::size_t train_rows = 8000) {
  const auto all = test(directory);
  return {all.slice(0, train_rows), all.slice(train_rows, all.size())};
}

#if LAMINA_DEFINES

sample source::at(std::size_t row) const {
  sample s;
  const std::uint8_t* pixels = data_->pixels.data() + row * s.image.size();
  for (std::size_t i = 0; i < s.image.size(); ++i)
    s.image[i] = static_cast<float>(pixels[i]) / 255.f * 2.f - 1.f;
  s.label = data_->labels[row];
  return s;
}

table<source> read(const std::string& images_path, const std::string& labels_path) {
  idx_array images = read_idx(images_path), labels = read_idx(labels_path);
  auto* pixels = std::get_if<std::vector<std::uint8_t>>(&images.values);
  if (!pixels || images.shape.size() != 3 || images.shape[1] != 28 || images.shape[2] != 28)
    throw format_error(images_path, 0,
                       "MNIST: expected images of 28 x 28 unsigned bytes, found "
                       "another shape or element type");
  auto* digits = std::get_if<std::vector<std::uint8_t>>(&labels.values);
  if (!digits || labels.shape.size() != 1)
    throw format_error(labels_path, 0,
                       "MNIST: expected one dimension of unsigned bytes, found "
                       "another shape or element type");
  if (images.shape[0] != labels.shape[0])
    throw format_error(labels_path, 4,
                       "MNIST: expected one label for each of " + std::to_string(images.shape[0]) +
                           " images, found " + std::to_string(labels.shape[0]));
  for (std::size_t i = 0; i < digits->size(); ++i)
    if ((*digits)[i] > 9)
      throw format_error(
          labels_path, 8 + i,
          "MNIST: expected a label of 0 to 9, found " + std::to_string((*digits)[i]));
  const std::size_t rows = digits->size();
  return {source(std::move(*pixels), std::move(*digits)), 0, rows};
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset::mnist
