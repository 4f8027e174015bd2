// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/cifar.hpp - the data sets CIFAR-10 and CIFAR-100. They are read from the files of
// the binary version or from the archives of the Python version.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/dataset/byte_source.hpp>
#include <lamina/dataset/pickle.hpp>
#include <lamina/dataset/table.hpp>
#include <lamina/dataset/text_member.hpp>
#include <lamina/io/archive/gzip.hpp>
#include <lamina/io/archive/tar_file.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset::cifar {

/// An image and its class.
struct sample {
  std::array<float, 3072> image;  ///< 32 by 32, 0 to 1: all of red, then green, then blue
  std::int64_t label;
};

/// Records as the files store them. All tables of a source share the records.
class source {
 public:
  /// A record consists of `labels` bytes, the last of which is the label, and 3,072 pixels.
  source(std::vector<std::uint8_t> records, std::size_t labels)
      : records_(std::make_shared<const std::vector<std::uint8_t>>(std::move(records))),
        labels_(labels) {}

  /// Makes the sample of a record, with Fluid's scale: pixel / 255.
  LAMINA_API sample at(std::size_t row) const;

 private:
  std::shared_ptr<const std::vector<std::uint8_t>> records_;
  std::size_t labels_;
};

namespace detail {

/// Appends the records of a file. Throws format_error if byte i of the labels of a record is not
/// below limits[i].
LAMINA_API void read_records(const std::string& path, std::initializer_list<int> limits,
                             std::vector<std::uint8_t>& records);

/// Appends the records of a batch of the Python version; a record is a label and 3,072 pixels. The
/// batch is a dictionary with 'data', an array with one row per image, and 'labels' or
/// 'fine_labels'.
LAMINA_API_COLD void read_batch(const text_member& m, int limit,
                                std::vector<std::uint8_t>& records);

/// Reads the records of all members whose name contains `part`, in the order of the archive.
LAMINA_API_COLD table<source> read_archive(binary_reader& from, std::string_view part, int limit);

/// Reads the files `names` of a folder with the binary version, or, if `path` is an archive of the
/// Python version, its members whose name contains `part`.
LAMINA_API table<source> read(const std::string& path, std::initializer_list<const char*> names,
                              std::initializer_list<int> limits, std::string_view part);

#if LAMINA_DEFINES

void read_records(const std::string& path, std::initializer_list<int> limits,
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

void read_batch(const text_member& m, int limit, std::vector<std::uint8_t>& records) {
  const pickle batch(m);
  const pickle::value* data = batch.find("data");
  const pickle::value* labels = batch.find("labels");
  if (labels == nullptr) labels = batch.find("fine_labels");
  if (data == nullptr || labels == nullptr)
    batch.fail(
        "CIFAR: expected a dictionary with 'data' and 'labels' or 'fine_labels', found none");
  const std::size_t rows = labels->items.size();
  if (labels->is != pickle::kind::list)
    batch.fail("CIFAR: expected a list of labels, found another value");
  const std::string pixels = batch.bytes_of(*data);
  const auto& shape = data->shape;
  if (data->is != pickle::kind::array || shape.size() != 2 || shape[1] != 3072 ||
      static_cast<std::uint64_t>(shape[0]) != rows || pixels.size() != 3072 * rows)
    batch.fail(lamina::text("CIFAR: expected 3072 bytes for each of ")
               << rows << " labels, found " << pixels.size() << " bytes or another shape");
  records.reserve(records.size() + 3073 * rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const pickle::value& label = batch.at(labels->items[row]);
    if (label.is != pickle::kind::number || label.number < 0 || label.number >= limit)
      batch.fail(lamina::text("CIFAR: expected a label of 0 to ")
                 << limit - 1 << ", found " << label.number << " in row " << row);
    records.push_back(static_cast<std::uint8_t>(label.number));
    const auto first = pixels.begin() + static_cast<std::ptrdiff_t>(3072 * row);
    records.insert(records.end(), first, first + 3072);
  }
}

table<source> read_archive(binary_reader& from, std::string_view part, int limit) {
  std::vector<std::uint8_t> records;
  tar_reader archive(from, tar_others::skipped);
  bool found = false;
  for (tar_member m; archive.next(m);) {
    if (m.name.find(part) == m.name.npos) continue;
    found = true;
    read_batch({from.path(), m.name, from.bytes(m.size, "a member"), m.begin}, limit, records);
  }
  if (!found)
    from.fail_at(0, lamina::text("CIFAR: expected a member whose name contains '")
                        << part << "', found none");
  const std::size_t rows = records.size() / 3073;
  return {source(std::move(records), 1), 0, rows};
}

table<source> read(const std::string& path, std::initializer_list<const char*> names,
                   std::initializer_list<int> limits, std::string_view part) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) {
    binary_reader from(path, lamina::detail::unpack_gzip);
    return read_archive(from, part, *(limits.end() - 1));
  }
  std::vector<std::uint8_t> records;
  for (const char* name : names) {
    const std::string file = (std::filesystem::path(path) / name).string();
    if (!std::filesystem::exists(file, ignored))
      throw error(std::string("lamina: dataset::cifar: expected ") + name + " in directory \"" +
                  path + "\", found none");
    read_records(file, limits, records);
  }
  const std::size_t rows = records.size() / (limits.size() + 3072);
  return {source(std::move(records), limits.size()), 0, rows};
}

#endif  // LAMINA_DEFINES

}  // namespace detail

/// Returns the 50,000 training images of CIFAR-10, labels 0 to 9. `path` is a folder of the binary
/// version, with data_batch_1.bin to data_batch_5.bin, or the archive of the Python version,
/// cifar-10-python.tar.gz. The batches of the archive are read in the order of the archive, as in
/// PaddlePaddle. Throws lamina::error for a file that does not exist. Throws format_error for a
/// file that is empty, ends within a record or has a label above 9, and for a damaged archive or
/// pickle. Source: Krizhevsky 2009. Fluid: dataset.cifar.train10.
LAMINA_API table<source> train10(const std::string& path);

/// Returns the 10,000 test images of CIFAR-10, from test_batch.bin in a folder or from the archive;
/// see train10. Fluid: dataset.cifar.test10.
inline table<source> test10(const std::string& path) {
  return detail::read(path, {"test_batch.bin"}, {10}, "test_batch");
}

/// Returns the 50,000 training images of CIFAR-100, with labels 0 to 99. `path` is a folder with
/// train.bin, whose records have a coarse label of 0 to 19 before the label, or the archive
/// cifar-100-python.tar.gz. Errors are those of train10. Fluid: dataset.cifar.train100.
inline table<source> train100(const std::string& path) {
  return detail::read(path, {"train.bin"}, {20, 100}, "train");
}

/// Returns the 10,000 test images of CIFAR-100, from test.bin in a folder or from the archive; see
/// train100. Fluid: dataset.cifar.test100.
inline table<source> test100(const std::string& path) {
  return detail::read(path, {"test.bin"}, {20, 100}, "test");
}

#if LAMINA_DEFINES

sample source::at(std::size_t row) const {
  sample s;
  const std::uint8_t* from = records_->data() + row * (labels_ + s.image.size()) + labels_;
  s.label = from[-1];
  for (float& pixel : s.image) pixel = static_cast<float>(*from++) / 255.f;
  return s;
}

table<source> train10(const std::string& path) {
  return detail::read(path,
                      {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                       "data_batch_4.bin", "data_batch_5.bin"},
                      {10}, "data_batch");
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset::cifar
