// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/cifar.hpp - CIFAR-10 and CIFAR-100 from the files of their binary version.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/error.hpp>
#include <lamina/dataset/byte_source.hpp>
#include <lamina/dataset/table.hpp>

namespace lamina::inline LAMINA_ABI::dataset::cifar {

/// An image and its class.
struct sample {
  std::array<float, 3072> image;  ///< 32 by 32, 0 to 1: all of red, then green, then blue
  std::int64_t label;
};

/// Records as stored in the files. All tables made from a source share them.
class source {
 public:
  /// A record consists of `labels` bytes, the last of which is the label, and the pixels.
  source(std::vector<std::uint8_t> records, std::size_t labels)
      : records_(std::make_shared<const std::vector<std::uint8_t>>(std::move(records))),
        labels_(labels) {}

  /// The sample of a record, with Fluid's scale: pixel / 255.
  sample at(std::size_t row) const {
    sample s;
    const std::uint8_t* from = records_->data() + row * (labels_ + s.image.size()) + labels_;
    s.label = from[-1];
    for (float& pixel : s.image) pixel = static_cast<float>(*from++) / 255.f;
    return s;
  }

 private:
  std::shared_ptr<const std::vector<std::uint8_t>> records_;
  std::size_t labels_;
};

namespace detail {

/// Appends the records of a file. Checks the label bytes of each record: byte i must be below
/// limits[i].
inline void read_records(const std::string& path, std::initializer_list<int> limits,
                         std::vector<std::uint8_t>& records) {
  const std::size_t size = limits.size() + 3072;
  byte_source file(path);
  for (std::size_t count = 0;; ++count) {
    const std::size_t begin = records.size();
    const std::uint64_t offset = file.offset();
    records.resize(begin + size);
    const std::size_t got = file.read(records.data() + begin, size);
    if (got == 0 && count > 0) return records.resize(begin);
    if (got < size)
      throw format_error(path, file.offset(),
                         "CIFAR: expected records of " + std::to_string(size) +
                             " bytes, the file ends after " + std::to_string(got) + " of record " +
                             std::to_string(count));
    std::size_t i = 0;
    for (const int limit : limits) {
      const int label = records[begin + i];
      if (label >= limit)
        throw format_error(path, offset + i,
                           "CIFAR: expected a label of 0 to " + std::to_string(limit - 1) +
                               ", found " + std::to_string(label));
      ++i;
    }
  }
}

inline table<source> read(const std::string& directory, std::initializer_list<const char*> names,
                          std::initializer_list<int> limits) {
  std::vector<std::uint8_t> records;
  for (const char* name : names) {
    const std::string path = (std::filesystem::path(directory) / name).string();
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
      throw error(std::string("lamina: dataset::cifar: expected ") + name + " in directory \"" +
                  directory + "\", found none");
    read_records(path, limits, records);
  }
  const std::size_t rows = records.size() / (limits.size() + 3072);
  return {source(std::move(records), limits.size()), 0, rows};
}

}  // namespace detail

/// The 50,000 training images of CIFAR-10, labels 0 to 9. Reads data_batch_1.bin to
/// data_batch_5.bin in `directory`, whose records consist of a label and 3,072 pixels. Errors:
/// lamina::error for a file that does not exist; format_error for a file that ends within a record,
/// is empty, or has a label above 9. Source: Krizhevsky 2009. Fluid: dataset.cifar.train10.
inline table<source> train10(const std::string& directory) {
  return detail::read(directory,
                      {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                       "data_batch_4.bin", "data_batch_5.bin"},
                      {10});
}

/// The 10,000 test images of CIFAR-10: test_batch.bin. Fluid: dataset.cifar.test10.
inline table<source> test10(const std::string& directory) {
  return detail::read(directory, {"test_batch.bin"}, {10});
}

/// The 50,000 training images of CIFAR-100, labels 0 to 99: train.bin, whose records have a coarse
/// label of 0 to 19 before the label. Fluid: dataset.cifar.train100.
inline table<source> train100(const std::string& directory) {
  return detail::read(directory, {"train.bin"}, {20, 100});
}

/// The 10,000 test images of CIFAR-100: test.bin. Fluid: dataset.cifar.test100.
inline table<source> test100(const std::string& directory) {
  return detail::read(directory, {"test.bin"}, {20, 100});
}

}  // namespace lamina::inline LAMINA_ABI::dataset::cifar
