// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/csv_parser.hpp - reads the rows of text files with separated fields.
#pragma once

#include <lamina/core/config.hpp>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset {

/// Whether a file begins with the names of its columns.
enum class csv_header {
  automatic,  ///< the first line is a header if no field of it is a number
  present,
  absent
};

/// Options of read_csv and read_csv_rows.
struct csv_options {
  csv_header header = csv_header::automatic;
  char separator = ',';
  char decimal = '.';  ///< the decimal mark; with ',' a number that contains a '.' is an error
};

namespace detail {

inline std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == text.npos ? std::string_view{} : text.substr(first, last - first + 1);
}

// Whether a number outside of the range of double is too small and not too large. It is too small
// if, after the exponent has moved the decimal point, the first nonzero digit is after the point.
LAMINA_API bool is_small(std::string_view text);

// Converts a field to a number, finite or not. Returns an error unless the whole field is a number.
// A number that is too small for a double becomes 0.
LAMINA_API std::errc to_number(std::string_view text, char decimal, double& value);

/// Returns the part of an error message that says which kind of number was expected.
inline std::string number_fault(std::errc status) {
  return status == std::errc::result_out_of_range ? "number that a double can hold"
                                                  : "finite number";
}

class csv_parser {
 public:
  /// If `lines_in_quotes`, a field in quotes may contain line breaks.
  LAMINA_API csv_parser(std::string path, std::string_view text, csv_options options,
                        bool lines_in_quotes = false);

  /// Reads the next row, skipping the header. Returns false at the end of the file.
  LAMINA_API bool next();

  const std::vector<std::string>& names() const { return names_; }
  std::size_t width() const { return width_; }
  std::uint64_t row_offset() const { return row_offset_; }
  std::size_t row_line() const { return row_line_; }
  std::string& text(std::size_t column) { return fields_[column].text; }
  /// Returns a field as a finite number.
  LAMINA_API double number(std::size_t column) const;
  [[noreturn]] void fail(std::uint64_t offset, const std::string& reason) const {
    throw format_error(path_, offset, "CSV, line " + std::to_string(row_line_) + ": " + reason);
  }

 private:
  struct field {
    std::string text;
    std::size_t offset;
  };

  LAMINA_API void read_line();

  bool is_end(char c) const { return c == options_.separator || c == '\n' || c == '\r'; }

  // Reads a field in quotes. As in RFC 4180, two quotes in such a field are one quote.
  LAMINA_API void read_quoted(std::string& text);

  // Whether the first line is a header. Throws format_error for a line with both names and numbers,
  // which is ambiguous: a column may have a number as its name, or a value may be missing.
  LAMINA_API bool is_header(std::size_t start) const;

  std::string path_;
  std::string_view text_;
  csv_options options_;
  bool lines_in_quotes_, first_ = true;
  std::size_t at_ = 0, line_ = 1, row_line_ = 1, width_ = 0;
  std::uint64_t row_offset_ = 0;
  std::vector<std::string> names_;
  std::vector<field> fields_;
};

#if LAMINA_DEFINES

bool is_small(std::string_view text) {
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
  long long exponent = 0;  // of a huge exponent, only the sign matters
  constexpr long long distant = 1LL << 60;
  if (std::from_chars(tail.data(), tail.data() + tail.size(), exponent).ec != std::errc{} ||
      exponent > distant)
    return negative;
  return position + (negative ? -exponent : exponent) < 0;
}

std::errc to_number(std::string_view text, char decimal, double& value) {
  text = trimmed(text);
  std::string pointed;  // from_chars needs a decimal point
  if (decimal != '.') {
    if (text.find('.') != text.npos) return std::errc::invalid_argument;
    pointed = text;
    for (char& c : pointed)
      if (c == decimal) c = '.';
    text = pointed;
  }
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status == std::errc::result_out_of_range && is_small(text))
    value = text[0] == '-' ? -0.0 : 0.0;
  else if (status != std::errc{})
    return status;
  return end == text.data() + text.size() ? std::errc{} : std::errc::invalid_argument;
}

csv_parser::csv_parser(std::string path, std::string_view text, csv_options options,
                       bool lines_in_quotes)
    : path_(std::move(path)), text_(text), options_(options), lines_in_quotes_(lines_in_quotes) {
  if (options_.separator == options_.decimal)
    throw error(lamina::text("lamina: dataset::read_csv: expected a separator and a decimal mark "
                             "that differ, found '")
                << std::string_view(&options_.separator, 1) << "' for both");
  if (text_.starts_with("\xff\xfe") || text_.starts_with("\xfe\xff"))
    fail(0, "expected text in UTF-8, found UTF-16");
  if (text_.substr(0, 3) == "\xef\xbb\xbf") at_ = 3;  // a UTF-8 byte order mark
  // Empty lines after the last row are ignored.
  const std::size_t last = text_.find_last_not_of("\r\n");
  const std::size_t end = last == text_.npos ? text_.npos : text_.find('\n', last);
  if (end != text_.npos) text_ = text_.substr(0, end + 1);
}

bool csv_parser::next() {
  for (; at_ < text_.size(); first_ = false) {
    row_offset_ = at_;
    row_line_ = line_;
    fields_.clear();
    read_line();
    ++line_;
    if (first_) {
      width_ = fields_.size();
      if (is_header(row_offset_)) {
        for (auto& f : fields_) names_.push_back(std::move(f.text));
        continue;
      }
    }
    if (fields_.size() != width_)
      fail(row_offset_, "expected " + std::to_string(width_) + " fields, found " +
                            std::to_string(fields_.size()));
    first_ = false;
    return true;
  }
  return false;
}

double csv_parser::number(std::size_t column) const {
  const field& f = fields_[column];
  double value = 0;
  const std::errc status = to_number(f.text, options_.decimal, value);
  if (status == std::errc{} && std::isfinite(value)) return value;
  fail(f.offset, "expected a " + number_fault(status) + " in column " + std::to_string(column + 1) +
                     ", found \"" + f.text.substr(0, 40) + "\"");
}

void csv_parser::read_line() {
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

void csv_parser::read_quoted(std::string& text) {
  const std::size_t start = at_++;
  for (;; ++at_) {
    if (at_ == text_.size()) fail(start, "expected a closing quote, found the end of the file");
    if (text_[at_] == '\n' && !lines_in_quotes_)
      fail(start, "expected a closing quote, found the end of the line");
    if (text_[at_] == '\n') ++line_;
    if (text_[at_] == '"' && (++at_ == text_.size() || text_[at_] != '"')) return;
    text += text_[at_];
  }
}

bool csv_parser::is_header(std::size_t start) const {
  if (options_.header != csv_header::automatic) return options_.header == csv_header::present;
  double ignored;
  const field *number = nullptr, *other = nullptr;
  for (const field& f : fields_)
    (to_number(f.text, options_.decimal, ignored) == std::errc::invalid_argument ? other : number) =
        &f;
  if (number != nullptr && other != nullptr)
    fail(start, "expected numbers alone or names alone, found \"" + number->text.substr(0, 40) +
                    "\" and \"" + other->text.substr(0, 40) +
                    "\"; say csv_header::present or csv_header::absent");
  return other != nullptr;
}

#endif  // LAMINA_DEFINES

}  // namespace detail

}}}  // namespace lamina::dataset
