// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/csv_rows.hpp - reads the rows of text files whose columns are numbers or words.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/dataset/byte_source.hpp>
#include <lamina/dataset/csv_parser.hpp>
#include <lamina/dataset/table.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset {

namespace detail {

/// The rows of a file as text. All csv_row objects of the file share this object.
struct csv_text {
  std::string path;
  char decimal = '.';
  std::size_t width = 0;
  std::vector<std::string> names;      ///< names of the columns; empty without a header
  std::vector<std::string> fields;     ///< row-major
  std::vector<std::uint64_t> offsets;  ///< offset of each row in the file
  std::vector<std::size_t> lines;      ///< line number of each row in the file

  /// Returns the index of the column with this name. Throws lamina::error if there is none.
  LAMINA_API LAMINA_COLD std::size_t column(std::string_view name) const;
};

#if LAMINA_DEFINES

std::size_t csv_text::column(std::string_view name) const {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return i;
  lamina::text found;
  for (const std::string& other : names)
    found << (&other == names.data() ? "\"" : ", \"") << other << "\"";
  if (names.empty()) found << "a file without a header";
  throw error(lamina::text("lamina: ")
              << path << ": expected a column \"" << name << "\", found " << found);
}

#endif  // LAMINA_DEFINES

}  // namespace detail

/// A row of a table that read_csv_rows returned. A copy is cheap; all copies share the text of the
/// file and keep it alive.
class csv_row {
 public:
  csv_row(std::shared_ptr<const detail::csv_text> text, std::size_t row)
      : text_(std::move(text)), row_(row) {}

  /// Returns the number of columns.
  std::size_t size() const { return text_->width; }
  /// Returns the field in this column, without quotes around it. Throws lamina::error if the column
  /// does not exist.
  LAMINA_API std::string_view operator[](std::size_t column) const;
  /// Returns the field in the column with this name. Throws lamina::error if the column does not
  /// exist.
  template <std::convertible_to<std::string_view> Name>
  std::string_view operator[](const Name& name) const {
    return (*this)[text_->column(name)];
  }

  /// Returns the field in the column with this name as a finite number. Throws format_error with
  /// file, offset, line and column if the field is not a finite number.
  LAMINA_API double number(std::string_view name) const;
  /// Throws a format_error with the file, the offset and the line of this row.
  [[noreturn]] LAMINA_COLD void fail(const std::string& reason) const {
    throw format_error(text_->path, text_->offsets[row_],
                       "CSV, line " + std::to_string(text_->lines[row_]) + ": " + reason);
  }

 private:
  std::shared_ptr<const detail::csv_text> text_;
  std::size_t row_;
};

/// The rows of a file, for dataset::table.
class csv_rows_source {
 public:
  explicit csv_rows_source(std::shared_ptr<const detail::csv_text> text) : text_(std::move(text)) {}
  csv_row at(std::size_t row) const { return {text_, row}; }

 private:
  std::shared_ptr<const detail::csv_text> text_;
};

/// Reads a file whose columns are numbers or words, and returns a table of csv_row: row["city"] is
/// a word, row.number("age") is a number. It works like read_csv, except that a field may be any
/// text, and a field in quotes may contain line breaks. A first line without a number is the
/// header. Throws format_error for a line with another number of fields, an unclosed quote, text
/// after a closing quote, a first line with both names and numbers (see csv_header), two columns
/// with the same name, a file without rows, and a file in UTF-16.
LAMINA_API table<csv_rows_source> read_csv_rows(const std::string& path, csv_options options = {});

#if LAMINA_DEFINES

std::string_view csv_row::operator[](std::size_t column) const {
  if (column >= size())
    throw error(lamina::text("lamina: dataset::csv_row: expected a column below ")
                << size() << ", found " << column);
  return text_->fields[row_ * size() + column];
}

double csv_row::number(std::string_view name) const {
  const std::string_view field = (*this)[name];
  double value = 0;
  const std::errc status = detail::to_number(field, text_->decimal, value);
  if (status == std::errc{} && std::isfinite(value)) return value;
  fail("expected a " + detail::number_fault(status) + " in column \"" + std::string(name) +
       "\", found \"" + std::string(field.substr(0, 40)) + "\"");
}

table<csv_rows_source> read_csv_rows(const std::string& path, csv_options options) {
  const std::string bytes = read_bytes(path);
  detail::csv_parser parser(path, bytes, options, true);
  auto text = std::make_shared<detail::csv_text>();
  text->path = path;
  text->decimal = options.decimal;
  while (parser.next()) {
    text->offsets.push_back(parser.row_offset());
    text->lines.push_back(parser.row_line());
    for (std::size_t i = 0; i < parser.width(); ++i)
      text->fields.push_back(std::move(parser.text(i)));
  }
  text->names = parser.names();
  text->width = parser.width();
  for (std::size_t i = 0; i < text->names.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (text->names[i] == text->names[k])
        throw format_error(
            path, 0,
            "CSV: expected columns of different names, found \"" + text->names[i] + "\" twice");
  const std::size_t rows = text->offsets.size();
  if (rows == 0)
    throw format_error(path, bytes.size(), "CSV: expected at least one row, found none");
  return {csv_rows_source(std::move(text)), 0, rows};
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset
