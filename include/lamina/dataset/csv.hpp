// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/csv.hpp - tables of numbers in text files.
#pragma once

#include <lamina/core/config.hpp>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <lamina/core/error.hpp>
#include <lamina/dataset/byte_source.hpp>

namespace lamina::inline LAMINA_ABI::dataset {

/// Whether a file begins with the names of its columns.
enum class csv_header {
  automatic,  ///< the first line is a header if none of its fields is a number
  present,
  absent
};

/// Options of read_csv.
struct csv_options {
  csv_header header = csv_header::automatic;
  char separator = ',';
};

/// Numbers, row-major: rows() x columns().
struct csv_table {
  std::vector<std::string> names;  ///< of the columns; empty without a header
  std::size_t width = 0;
  std::vector<double> values;

  std::size_t columns() const { return width; }
  std::size_t rows() const { return width == 0 ? 0 : values.size() / width; }
  double operator()(std::size_t row, std::size_t column) const {
    return values[row * width + column];
  }
};

namespace detail {

class csv_parser {
 public:
  csv_parser(std::string path, std::string_view text, csv_options options)
      : path_(std::move(path)), text_(text), options_(options) {
    if (text_.substr(0, 3) == "\xef\xbb\xbf") at_ = 3;  // a UTF-8 byte order mark
    // Empty lines after the last row are ignored.
    const std::size_t last = text_.find_last_not_of("\r\n");
    const std::size_t end = last == text_.npos ? text_.npos : text_.find('\n', last);
    if (end != text_.npos) text_ = text_.substr(0, end + 1);
  }

  csv_table parse() {
    csv_table table;
    for (bool first = true; at_ < text_.size(); first = false, ++line_) {
      const std::size_t start = at_;
      fields_.clear();
      read_line();
      if (first) {
        table.width = fields_.size();
        if (is_header(start)) {
          for (auto& f : fields_) table.names.push_back(std::move(f.text));
          continue;
        }
      }
      if (fields_.size() != table.width)
        fail(start, "expected " + std::to_string(table.width) + " fields, found " +
                        std::to_string(fields_.size()));
      for (std::size_t i = 0; i < fields_.size(); ++i) table.values.push_back(number(i));
    }
    return table;
  }

 private:
  struct field {
    std::string text;
    std::size_t offset;
  };

  [[noreturn]] void fail(std::size_t offset, const std::string& reason) const {
    throw format_error(path_, offset, "CSV, line " + std::to_string(line_) + ": " + reason);
  }

  void read_line() {
    for (bool more = true; more;) {
      fields_.push_back({{}, at_});
      if (at_ < text_.size() && text_[at_] == '"')
        read_quoted(fields_.back().text);
      else
        while (at_ < text_.size() && !is_end(text_[at_])) fields_.back().text += text_[at_++];
      more = at_ < text_.size() && text_[at_] == options_.separator;
      if (more) {
        ++at_;
        continue;
      }
      if (at_ < text_.size() && text_[at_] == '\r') ++at_;
      if (at_ < text_.size() && text_[at_] != '\n')
        fail(at_, "expected a separator or the end of the line after field " +
                      std::to_string(fields_.size()));
      if (at_ < text_.size()) ++at_;
    }
  }

  bool is_end(char c) const { return c == options_.separator || c == '\n' || c == '\r'; }

  // RFC 4180: a quote within quotes is doubled.
  void read_quoted(std::string& text) {
    const std::size_t start = at_++;
    for (;; ++at_) {
      if (at_ == text_.size()) fail(start, "expected a closing quote, found the end of the file");
      if (text_[at_] == '\n') fail(start, "expected a closing quote, found the end of the line");
      if (text_[at_] == '"' && (++at_ == text_.size() || text_[at_] != '"')) return;
      text += text_[at_];
    }
  }

  static std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
    return first == text.npos ? std::string_view{} : text.substr(first, last - first + 1);
  }

  // Whether a number that no double can hold is too small rather than too large: its first nonzero
  // digit then comes after the decimal point, with the exponent applied.
  static bool is_small(std::string_view text) {
    const std::size_t e = text.find_first_of("eE");
    const std::string_view digits = text.substr(0, e);
    const std::size_t first = digits.find_first_of("123456789"), point = digits.find('.');
    if (first == text.npos) return true;
    const std::size_t whole = point == text.npos ? digits.size() : point;
    const long long position = first < whole ? static_cast<long long>(whole - first)
                                             : -static_cast<long long>(first - whole - 1);
    if (e == text.npos) return position < 0;
    std::string_view tail = text.substr(e + 1);
    const bool negative = tail.starts_with('-');
    if (negative || tail.starts_with('+')) tail.remove_prefix(1);
    long long exponent = 0;  // only the sign of a huge exponent matters
    constexpr long long distant = 1LL << 60;
    if (std::from_chars(tail.data(), tail.data() + tail.size(), exponent).ec != std::errc{} ||
        exponent > distant)
      return negative;
    return position + (negative ? -exponent : exponent) < 0;
  }

  // Whether the whole field is a number, finite or not. A number too small for a double is 0.
  static std::errc convert(std::string_view text, double& value) {
    text = trimmed(text);
    if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status == std::errc::result_out_of_range && is_small(text))
      value = text[0] == '-' ? -0.0 : 0.0;
    else if (status != std::errc{})
      return status;
    return end == text.data() + text.size() ? std::errc{} : std::errc::invalid_argument;
  }

  // A line of names has no number, and a line of numbers has no names. A line that has both is
  // ambiguous: a name may be a number, or a value may be missing.
  bool is_header(std::size_t start) const {
    if (options_.header != csv_header::automatic) return options_.header == csv_header::present;
    double ignored;
    const field *number = nullptr, *other = nullptr;
    for (const field& f : fields_)
      (convert(f.text, ignored) == std::errc::invalid_argument ? other : number) = &f;
    if (number != nullptr && other != nullptr)
      fail(start, "expected numbers alone or names alone, found \"" + number->text.substr(0, 40) +
                      "\" and \"" + other->text.substr(0, 40) +
                      "\"; say csv_header::present or csv_header::absent");
    return other != nullptr;
  }

  double number(std::size_t column) const {
    const field& f = fields_[column];
    double value = 0;
    const std::errc status = convert(f.text, value);
    if (status == std::errc{} && std::isfinite(value)) return value;
    fail(f.offset,
         "expected a " +
             std::string(status == std::errc::result_out_of_range ? "number that a double can hold"
                                                                  : "finite number") +
             " in column " + std::to_string(column + 1) + ", found \"" + f.text.substr(0, 40) +
             "\"");
  }

  std::string path_;
  std::string_view text_;
  csv_options options_;
  std::size_t at_ = 0, line_ = 1;
  std::vector<field> fields_;
};

}  // namespace detail

/// Reads a file of comma-separated numbers: fields plain or in quotes, lines ended by LF or CRLF,
/// every line with as many fields as the first. A file compressed with gzip is unpacked. A number
/// nearer to 0 than any double is 0. Errors, as format_error with file, byte offset and line: a
/// line of another length (an empty line between rows too), a field that is not a finite number,
/// an open quote, text after a quote, a first line of names and numbers (see csv_header), a file
/// without a row.
inline csv_table read_csv(const std::string& path, csv_options options = {}) {
  const std::string text = read_bytes(path);
  csv_table table = detail::csv_parser(path, text, options).parse();
  if (table.rows() == 0)
    throw format_error(path, text.size(), "CSV: expected at least one row of numbers, found none");
  return table;
}

}  // namespace lamina::inline LAMINA_ABI::dataset
