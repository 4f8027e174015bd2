// SPDX-License-Identifier: Apache-2.0
// lamina/v2/creator.hpp - readers of the rows of an array and of the lines of a file.
#pragma once

#include <lamina/core/config.hpp>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/files/file.hpp>
#include <lamina/core/files/open_file.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/reader/generator.hpp>
#include <lamina/tensor/array.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace v2::reader::creator {

/// The type of the reader that np_array makes. It yields each row of an array as a vector of
/// numbers.
template <class T>
class array_rows {
 public:
  explicit array_rows(array<T> x) : x_(std::make_shared<const array<T>>(std::move(x))) {}
  generator<std::vector<T>> operator()() const { return run(x_); }

 private:
  static generator<std::vector<T>> run(std::shared_ptr<const array<T>> x) {
    const std::size_t rows = x->dimension() == 0 ? 0 : x->shape(0);
    const std::size_t width = rows == 0 ? 0 : x->size() / rows;
    for (std::size_t i = 0; i < rows; ++i)
      co_yield std::vector<T>(x->data() + i * width, x->data() + (i + 1) * width);
  }

  std::shared_ptr<const array<T>> x_;
};
/// Makes a reader of the rows of an array; a row is an index of the first dimension. v2:
/// reader.creator.np_array.
template <class T>
array_rows<T> np_array(array<T> x) {
  return array_rows<T>(std::move(x));
}

/// The type of the reader that text_file makes.
class file_lines {
 public:
  explicit file_lines(const file_path& path) : path_(path.string()) {}
  generator<std::string> operator()() const { return run(path_); }

 private:
  LAMINA_COLD static generator<std::string> run(std::string path) {
    const open_file from(path);
    if (!from.is_open())
      throw error(text() << "lamina: " << path << ": cannot be opened: " << reason_of(errno));
    std::string piece(65536, '\0'), line;
    while (const long long got = from.read(piece.data(), piece.size())) {
      if (got < 0)
        throw error(text() << "lamina: " << path << ": cannot be read: " << reason_of(errno));
      std::string_view left(piece.data(), static_cast<std::size_t>(got));
      for (std::size_t end; (end = left.find('\n')) != left.npos; left.remove_prefix(end + 1)) {
        line += left.substr(0, end);
        if (line.ends_with('\r')) line.pop_back();
        co_yield std::exchange(line, {});
      }
      line += left;
    }
    if (!line.empty()) co_yield line;
  }

  std::string path_;
};
/// Makes a reader of the lines of a file, without line ends (a line feed, or a carriage return and
/// a line feed). It reads the file again in each pass.
/// If the file cannot be opened, reading the first line throws lamina::error. v2:
/// reader.creator.text_file.
inline file_lines text_file(const file_path& path) { return file_lines(path); }

}}}  // namespace lamina::v2::reader::creator
