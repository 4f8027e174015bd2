// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/csv.hpp - reads a table of numbers from a CSV file.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/dataset/byte_source.hpp>
#include <lamina/dataset/csv_parser.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset {

/// A table of numbers, row-major, with rows() rows and columns() columns.
struct csv_table {
  std::vector<std::string> names;  ///< names of the columns; empty without a header
  std::size_t width = 0;
  std::vector<double> values;

  std::size_t columns() const { return width; }
  std::size_t rows() const { return width == 0 ? 0 : values.size() / width; }
  double operator()(std::size_t row, std::size_t column) const {
    return values[row * width + column];
  }
};

/// Parses a text in memory. Errors are those of read_csv, with `path` as the name of the file.
LAMINA_API csv_table parse_csv(const std::string& path, std::string_view text,
                               csv_options options = {});

/// Reads a file of comma-separated numbers. Fields may be in quotes, and lines end with LF or CRLF.
/// Every line must have as many fields as the first line. A file that is compressed with gzip is
/// decompressed. A number that is too small for a double is read as 0. Throws format_error with
/// file, byte offset and line for a line with another number of fields (also for an empty line
/// between rows), a field that is not a finite number, an unclosed quote, text after a closing
/// quote, a first line with both names and numbers (see csv_header), and a file without rows.
inline csv_table read_csv(const std::string& path, csv_options options = {}) {
  return parse_csv(path, read_bytes(path), options);
}

#if LAMINA_DEFINES

csv_table parse_csv(const std::string& path, std::string_view text, csv_options options) {
  detail::csv_parser parser(path, text, options);
  csv_table table;
  while (parser.next())
    for (std::size_t i = 0; i < parser.width(); ++i) table.values.push_back(parser.number(i));
  table.names = parser.names();
  table.width = parser.width();
  if (table.rows() == 0)
    throw format_error(path, text.size(), "CSV: expected at least one row of numbers, found none");
  return table;
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset
