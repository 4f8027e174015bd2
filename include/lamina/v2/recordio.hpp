// SPDX-License-Identifier: Apache-2.0
// lamina/v2/recordio.hpp - a reader of the records of RecordIO files.
#pragma once

#include <lamina/core/config.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/io/archive/recordio.hpp>
#include <lamina/model/feeding/sample_files.hpp>
#include <lamina/reader/buffered.hpp>
#include <lamina/reader/generator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace v2::reader::creator {

/// The type of the reader that recordio makes.
class recordio_records {
 public:
  explicit recordio_records(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {}
  generator<std::string> operator()() const { return run(files()); }

 private:
  LAMINA_COLD std::vector<std::string> files() const {
    std::vector<std::string> all;
    for (const std::string& pattern : patterns_) {
      std::vector<std::string> found = lamina::detail::files_of(pattern);
      if (found.empty())
        throw error("lamina: v2: reader::creator::recordio: expected a file '" + pattern +
                    "', found none");
      all.insert(all.end(), found.begin(), found.end());
    }
    return all;
  }
  LAMINA_COLD static generator<std::string> run(std::vector<std::string> files) {
    for (const std::string& path : files) {
      binary_reader file(path);
      recordio_reader records(file);
      for (std::string_view record; records.next(record);) co_yield std::string(record);
    }
  }

  std::vector<std::string> patterns_;
};

/// Makes a reader of the records of files; a record is a text of bytes. The files are read in the
/// order of `paths`, which may be shell patterns. A thread reads `buf_size` records ahead.
/// lamina::from_record converts records that convert() wrote to samples. When a pass begins, throws
/// lamina::error for a path that matches no file; later, throws the errors of recordio_reader. v2:
/// reader.creator.recordio.
inline auto recordio(std::vector<std::string> paths, lamina::reader::element_count buf_size = 100) {
  return recordio_records(std::move(paths)) | lamina::reader::buffered(buf_size);
}
inline auto recordio(const std::string& path, lamina::reader::element_count buf_size = 100) {
  return recordio(std::vector<std::string>{path}, buf_size);
}

}}}  // namespace lamina::v2::reader::creator
