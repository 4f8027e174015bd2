// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/column_encoding.hpp - converts columns of numbers and words to the inputs of a
// model. The conversion is learnt from the rows for training and saved with the model.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/files/checksum.hpp>
#include <lamina/core/files/file.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/dataset/byte_source.hpp>
#include <lamina/dataset/csv_parser.hpp>
#include <lamina/dataset/csv_rows.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset {

/// Options of a column of numbers.
struct number_column {
  /// Whether an empty field becomes the mean; otherwise it is an error.
  bool missing_is_mean = false;
};
/// Options of a column of words.
struct category_column {
  /// The common id of all words that fit() did not see. If this option is not set, such words are
  /// errors.
  std::optional<std::int64_t> unseen{};
};

/// Converts columns to numbers: a number x becomes (x - mean) / deviation, and a word becomes its
/// id. fit() learns the means, the standard deviations (of the population) and the words from the
/// rows for training, and from no other rows. save() and load() preserve the numbers bit for bit,
/// so that a server computes the same values as the training did. `model.save(path, encoding)`
/// stores the encoding in the file of the model.
///   dataset::column_encoding encoding;
///   encoding.add_number("age").add_category("city", {.unseen = 0});
///   encoding.fit(rows.slice(0, 800));
///   encoding.save("model.columns.csv");
///   float age = encoding.number("age", 41);
///   std::int64_t city = encoding.id("city", "Rome");
class column_encoding {
 public:
  /// Adds a column of numbers. Throws lamina::error if a column with this name exists.
  column_encoding& add_number(std::string name, number_column options = {}) {
    return add({.name = std::move(name), .missing_is_mean = options.missing_is_mean});
  }
  /// Adds a column of words. Throws lamina::error if a column with this name exists, and for a
  /// negative id of unseen words.
  LAMINA_API column_encoding& add_category(std::string name, category_column options = {});

  /// Learns all columns from `rows`, a range of csv_row: a table, a slice of a table, or a pass of
  /// a reader. A column of equal numbers gets the deviation 1. Words get the ids 0, 1, ... in the
  /// order of their bytes; the id of unseen words is skipped. An empty field counts as a word and
  /// comes first. Throws lamina::error if there is no row, a column does not exist, a field is not
  /// a finite number, a column has no numbers, or the variance of a column exceeds the range of
  /// double; the encoding is then unchanged.
  template <class Rows>
  void fit(Rows&& rows) {
    column_encoding fresh = *this;
    fresh.begin();
    for (auto&& row : rows) fresh.see(row);
    fresh.end();
    *this = std::move(fresh);
  }

  /// Returns the encoded value of a number: (value - mean) / deviation.
  float number(std::string_view column, double value) const {
    return scaled(of(column, false), value);
  }
  /// Returns the id of a word. For a word that fit() did not see, returns the id of unseen words;
  /// if the column has none, throws lamina::error.
  std::int64_t id(std::string_view column, std::string_view word) const {
    const auto id = find(of(column, true), word);
    if (!id) fail(column, lamina::text() << unseen_text << word.substr(0, 40) << "\"");
    return *id;
  }
  /// Returns the number of ids of a column of words, including the id of unseen words. An embedding
  /// of the column needs this number of rows.
  std::int64_t size(std::string_view column) const {
    const one& c = of(column, true);
    const auto words = static_cast<std::int64_t>(c.words.size());
    return !c.unseen ? words : *c.unseen < words ? words + 1 : *c.unseen + 1;
  }
  /// Returns the word of an id. Throws lamina::error for an id without a word.
  LAMINA_API const std::string& word(std::string_view column, std::int64_t id) const;
  double mean(std::string_view column) const { return of(column, false).mean; }
  double deviation(std::string_view column) const { return of(column, false).deviation; }

  /// Returns the encoded values of the N columns of numbers of a row, in the order in which the
  /// columns were added. Throws lamina::error if the encoding does not have N such columns, or if a
  /// field is not a number.
  template <std::size_t N>
  std::array<float, N> numbers(const csv_row& row) const {
    std::array<float, N> values{};
    encode(false, N, [&](std::size_t i, const one& c) {
      const bool missing = c.missing_is_mean && detail::trimmed(row[c.name]).empty();
      values[i] = scaled(c, missing ? c.mean : row.number(c.name));
    });
    return values;
  }
  /// Returns the ids of the N columns of words of a row, in the order in which the columns were
  /// added. Throws lamina::error if the encoding does not have N such columns, and for an unseen
  /// word of a column without an id for unseen words.
  template <std::size_t N>
  std::array<std::int64_t, N> ids(const csv_row& row) const {
    std::array<std::int64_t, N> values{};
    encode(true, N, [&](std::size_t i, const one& c) {
      const std::string_view word = row[c.name];
      const auto id = find(c, word);
      if (!id)
        row.fail("column \"" + c.name + "\": " + unseen_text + std::string(word.substr(0, 40)) +
                 "\"");
      values[i] = *id;
    });
    return values;
  }

  /// Writes a CSV file of four columns (column, kind, key, value), which ends with a checksum.
  /// Throws lamina::error before fit() or load().
  LAMINA_API LAMINA_COLD void save(const file_path& path) const;
  /// Reads a file that save() wrote. Throws format_error for a damaged file and for any other file.
  LAMINA_API LAMINA_COLD static column_encoding load(const file_path& path);

  /// The name of the encoding in a model's file: `model.save(path, encoding)`, `model.load(path,
  /// encoding)`.
  static constexpr const char* part_name = "column_encoding";
  /// Returns the text that save() writes to a file. Throws lamina::error before fit() or load().
  LAMINA_API LAMINA_COLD std::string to_text() const;
  /// Replaces the encoding by `bytes`, a text that to_text() returned; `source` is the name of its
  /// file for errors. If this encoding already has columns, fitted or not, the text must have the
  /// same columns with the same options in the same order. Throws lamina::error for other columns,
  /// and format_error for damaged contents; the encoding is then unchanged.
  LAMINA_API LAMINA_COLD void read_text(std::string_view bytes, const std::string& source);

 private:
  struct one {
    std::string name;
    bool is_category = false, missing_is_mean = false;
    std::optional<std::int64_t> unseen{};
    double mean = 0, deviation = 1;
    std::vector<std::string> words{};  // sorted
    double squares = 0, count = 0;     // while fit() runs
  };
  static constexpr const char* unseen_text = "expected a word of the rows to train with, found \"";

  [[noreturn]] LAMINA_COLD static void fail(std::string_view column, const lamina::text& reason) {
    throw error(lamina::text("lamina: dataset::column_encoding: column \"")
                << column << "\": " << reason);
  }
  LAMINA_API LAMINA_COLD column_encoding& add(one c);
  // Returns a text with the properties of a column that two encodings must share: a program that
  // encodes rows depends on them.
  LAMINA_API LAMINA_COLD static std::string described(const one& c);
  LAMINA_API LAMINA_COLD void require_columns(const column_encoding& found,
                                              const std::string& source) const;
  void require_fit() const {
    if (!fitted_)
      throw error("lamina: dataset::column_encoding: expected fit() or load() before, found none");
  }
  LAMINA_API const one& of(std::string_view name, bool is_category) const;
  static float scaled(const one& c, double value) {
    return static_cast<float>((value - c.mean) / c.deviation);
  }
  LAMINA_API static std::optional<std::int64_t> find(const one& c, std::string_view word);
  template <class F>
  void encode(bool is_category, std::size_t n, F f) const {
    require_fit();
    std::size_t i = 0;
    for (const one& c : columns_)
      if (c.is_category == is_category && i++ < n) f(i - 1, c);
    if (i != n)
      throw error(lamina::text("lamina: dataset::column_encoding: expected ")
                  << i << (is_category ? " columns of words" : " columns of numbers") << ", found "
                  << n);
  }

  LAMINA_API LAMINA_COLD void begin();
  // Updates means and sums of squares by Welford's algorithm, which is precise even if the mean is
  // large.
  LAMINA_API LAMINA_COLD void see(const csv_row& row);
  LAMINA_API LAMINA_COLD void end();

  static std::string quoted(std::string_view field) {
    std::string all = "\"";
    for (const char c : field) all += c == '"' ? std::string("\"\"") : std::string(1, c);
    return all + "\"";
  }
  // Returns the shortest decimal text that is read back as the same number.
  static std::string written(double value) {
    char digits[64];
    return std::string(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  }
  LAMINA_API static std::string checksum_of(std::string_view bytes);

  std::vector<one> columns_{};
  bool fitted_ = false;
};

#if LAMINA_DEFINES

column_encoding& column_encoding::add_category(std::string name, category_column options) {
  if (options.unseen && *options.unseen < 0)
    fail(name, lamina::text("expected an id of 0 or more for words that are not seen, found ")
                   << *options.unseen);
  return add({.name = std::move(name), .is_category = true, .unseen = options.unseen});
}

const std::string& column_encoding::word(std::string_view column, std::int64_t id) const {
  const one& c = of(column, true);
  const std::int64_t at = c.unseen && id > *c.unseen ? id - 1 : id;
  if (id < 0 || (c.unseen && id == *c.unseen) || at >= static_cast<std::int64_t>(c.words.size()))
    fail(column, lamina::text("expected the id of a word, found ") << id);
  return c.words[static_cast<std::size_t>(at)];
}

void column_encoding::save(const file_path& path) const {
  const std::string all = to_text();
  binary_writer to(path.string());
  to.write(all);
  to.finish();
}

column_encoding column_encoding::load(const file_path& path) {
  const std::string bytes = read_bytes(path.string());
  if (bytes.starts_with(std::string_view("LAMINA\0", 7)))
    throw format_error(path.string(), 0,
                       "expected a file of column_encoding::save, found the file of a model; an "
                       "encoding in it is read by model.load(path, encoding) or "
                       "lamina::load_part<lamina::dataset::column_encoding>(path)");
  column_encoding result;
  result.read_text(bytes, path.string());
  return result;
}

std::string column_encoding::to_text() const {
  require_fit();
  std::string all = "column,kind,key,value\n";
  const auto line = [&](const one& c, const char* key, std::string_view value) {
    all += quoted(c.name) + (c.is_category ? ",category," : ",number,") + key + "," +
           quoted(value) + "\n";
  };
  for (const one& c : columns_)
    if (c.is_category) {
      line(c, "unseen", c.unseen ? std::to_string(*c.unseen) : "error");
      line(c, "words", std::to_string(c.words.size()));
      for (const std::string& word : c.words) line(c, "word", word);
    } else {
      line(c, "missing", c.missing_is_mean ? "mean" : "error");
      line(c, "mean", written(c.mean));
      line(c, "deviation", written(c.deviation));
    }
  return all + ",end,checksum," + checksum_of(all) + "\n";
}

void column_encoding::read_text(std::string_view bytes, const std::string& source) {
  detail::csv_parser rows(source, bytes, {.header = csv_header::present}, true);
  column_encoding result;
  const auto next = [&](std::string_view key, const one* of) -> std::string_view {
    if (!rows.next() || rows.text(2) != key || (of != nullptr && rows.text(0) != of->name))
      rows.fail(rows.row_offset(), "expected " + std::string(key) + " of a column");
    return rows.text(3);
  };
  const auto whole = [&](std::string_view digits) {
    std::int64_t n = -1;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    if (status != std::errc{} || end != digits.data() + digits.size() || n < 0)
      rows.fail(rows.row_offset(), "expected a whole number, found another field");
    return n;
  };
  for (;;) {
    if (!rows.next() || rows.width() != 4)
      rows.fail(rows.row_offset(), "expected a saved column_encoding with a checksum at its end");
    one c{.name = rows.text(0), .is_category = rows.text(1) == "category"};
    const std::string kind = rows.text(1), key = rows.text(2), value = rows.text(3);
    if (kind == "end") {
      const auto before = bytes.substr(0, rows.row_offset());
      if (key != "checksum" || value != checksum_of(before) || rows.next())
        rows.fail(rows.row_offset(), "expected the checksum of the lines above as the last line");
      break;
    }
    if (kind != "number" && kind != "category")
      rows.fail(rows.row_offset(), "expected a number, a category or the end");
    if (c.is_category) {
      if (value != "error") c.unseen = whole(value);
      const std::int64_t count = whole(next("words", &c));
      for (std::int64_t i = 0; i < count; ++i) {
        const std::string_view word = next("word", &c);
        if (i > 0 && !(c.words.back() < word))
          rows.fail(rows.row_offset(), "expected words in the order of their bytes");
        c.words.emplace_back(word);
      }
    } else {
      c.missing_is_mean = value == "mean";
      next("mean", &c);
      c.mean = rows.number(3);
      next("deviation", &c);
      c.deviation = rows.number(3);
      if (!(c.deviation > 0)) rows.fail(rows.row_offset(), "expected a deviation above 0");
    }
    result.add(std::move(c));
  }
  require_columns(result, source);
  result.fitted_ = true;
  *this = std::move(result);
}

column_encoding& column_encoding::add(one c) {
  for (const one& other : columns_)
    if (other.name == c.name) fail(c.name, lamina::text("expected a new name, found it twice"));
  columns_.push_back(std::move(c));
  fitted_ = false;
  return *this;
}

std::string column_encoding::described(const one& c) {
  if (!c.is_category)
    return lamina::text() << "numbers \"" << c.name
                          << "\" (missing: " << (c.missing_is_mean ? "mean)" : "error)");
  return lamina::text() << "words \"" << c.name
                        << "\" (unseen: " << (c.unseen ? std::to_string(*c.unseen) : "error")
                        << ")";
}

void column_encoding::require_columns(const column_encoding& found,
                                      const std::string& source) const {
  const auto list = [](const column_encoding& of) {
    lamina::text all;
    for (const one& c : of.columns_) all << (&c == of.columns_.data() ? "" : ", ") << described(c);
    return std::string(all);
  };
  if (!columns_.empty() && list(*this) != list(found))
    throw error(lamina::text() << "lamina: " << source << ": expected columns " << list(*this)
                               << ", found " << list(found));
}

const column_encoding::one& column_encoding::of(std::string_view name, bool is_category) const {
  require_fit();
  for (const one& c : columns_)
    if (c.name == name && c.is_category == is_category) return c;
  fail(name, lamina::text("expected a column of ")
                 << (is_category ? "words" : "numbers") << ", found none");
}

std::optional<std::int64_t> column_encoding::find(const one& c, std::string_view word) {
  const auto at = std::lower_bound(c.words.begin(), c.words.end(), word);
  if (at == c.words.end() || *at != word) return c.unseen;
  const std::int64_t id = at - c.words.begin();
  return c.unseen && id >= *c.unseen ? id + 1 : id;
}

void column_encoding::begin() {
  for (one& c : columns_) {
    c.words.clear();
    c.mean = c.squares = c.count = 0;
  }
  fitted_ = false;
}

void column_encoding::see(const csv_row& row) {
  for (one& c : columns_) {
    if (c.is_category) {
      const std::string_view word = row[c.name];
      const auto at = std::lower_bound(c.words.begin(), c.words.end(), word);
      if (at == c.words.end() || *at != word) c.words.emplace(at, word);
    } else if (!c.missing_is_mean || !detail::trimmed(row[c.name]).empty()) {
      const double x = row.number(c.name), apart = x - c.mean;
      c.mean += apart / ++c.count;
      c.squares += apart * (x - c.mean);
    }
  }
  fitted_ = true;
}

void column_encoding::end() {
  if (!fitted_ || columns_.empty())
    throw error("lamina: dataset::column_encoding: expected a column and a row, found none");
  for (one& c : columns_) {
    if (c.is_category) continue;
    if (c.count == 0)
      fail(c.name, lamina::text("expected a number in some row, found empty fields"));
    c.deviation = std::sqrt(c.squares / c.count);
    if (!std::isfinite(c.mean) || !std::isfinite(c.deviation))
      fail(c.name,
           lamina::text("expected numbers whose variance a double can hold, found larger ones"));
    if (c.deviation == 0) c.deviation = 1;
  }
}

std::string column_encoding::checksum_of(std::string_view bytes) {
  checksum sum(bytes.size());
  sum.add(bytes.data(), bytes.size());
  char digits[20];
  return std::string(digits, std::to_chars(digits, digits + sizeof digits, sum.value(), 16).ptr);
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset
