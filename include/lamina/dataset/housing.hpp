// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/housing.hpp - the Boston housing data from a CSV file, and synthetic data that
// need no file.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/numbers/philox.hpp>
#include <lamina/dataset/byte_source.hpp>
#include <lamina/dataset/csv.hpp>
#include <lamina/dataset/table.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset::housing {

/// The features of a district, and the median price of its houses.
struct sample {
  std::array<float, 13> features;  ///< (x - average) / (max - min) over all rows
  float price;                     ///< thousands of dollars, as in the file
};

/// The normalised rows. All tables of a source share them.
class source {
 public:
  explicit source(std::vector<sample> rows)
      : rows_(std::make_shared<const std::vector<sample>>(std::move(rows))) {}
  const sample& at(std::size_t row) const { return (*rows_)[row]; }

  std::size_t train_rows() const { return rows_->size() * 8 / 10; }
  table<source> train() const { return {*this, 0, train_rows()}; }
  table<source> test() const { return {*this, train_rows(), rows_->size()}; }

 private:
  std::shared_ptr<const std::vector<sample>> rows_;
};

namespace detail {

/// Converts a text whose numbers are separated by blanks to CSV: replaces the first blank after
/// each number by a comma, except after the last number of a line. The positions of all numbers
/// stay the same, so offsets in errors are correct.
LAMINA_API_COLD std::string with_commas(std::string text);

#if LAMINA_DEFINES

std::string with_commas(std::string text) {
  if (text.find(',') != text.npos) return text;
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (!is_blank(text[i]) || is_blank(text[i - 1]) || text[i - 1] == '\n') continue;
    std::size_t next = i;
    while (next < text.size() && is_blank(text[next])) ++next;
    if (next < text.size() && text[next] != '\n') text[i] = ',';
    i = next;
  }
  return text;
}

#endif  // LAMINA_DEFINES

}  // namespace detail

/// Reads the file and normalises it as Fluid does: in each of the first 13 columns, x becomes (x -
/// average) / (max - min), with the statistics of all rows. A column of equal values becomes 0. The
/// 14th column is the price. Numbers are separated by commas or, as in UCI's housing.data, by
/// blanks. Throws format_error as read_csv does, and for a file that does not have 14 columns.
LAMINA_API source read(const std::string& path);

/// Return the first 80 % of the rows of a file for training, and the other rows for test. Fluid:
/// dataset.uci_housing.train, test.
inline table<source> train(const std::string& path) { return read(path).train(); }
inline table<source> test(const std::string& path) { return read(path).test(); }

/// The weights and the bias of the synthetic data: price = weights . features + bias + noise.
inline constexpr std::array<float, 13> twin_weights{-8.f,  4.f, 0.5f, 2.5f, -6.f, 14.f, 0.25f,
                                                    -12.f, 6.f, -5.f, -7.f, 3.f,  -16.f};
inline constexpr float twin_bias = 22.5f;
inline constexpr float twin_noise = 0.25f;  ///< noise is uniform in [-twin_noise, twin_noise)

/// Returns synthetic data for programs without the file: 506 rows with 13 features that are uniform
/// in [-1/2, 1/2), and a price that is a linear function of the features plus a little noise. The
/// numbers have the same bits on every machine. A correct linear fit has a mean squared error of
/// about twin_noise^2 / 3 = 0.021.
LAMINA_API source twin();

/// Return the first 80 % of the synthetic rows for training, and the other rows for test.
inline table<source> train() { return twin().train(); }
inline table<source> test() { return twin().test(); }

#if LAMINA_DEFINES

source read(const std::string& path) {
  const csv_table csv = parse_csv(path, detail::with_commas(read_bytes(path)));
  if (csv.columns() != 14)
    throw format_error(path, 0,
                       "housing: expected 14 columns, found " + std::to_string(csv.columns()));
  std::vector<sample> rows(csv.rows());
  for (std::size_t c = 0; c < 13; ++c) {
    double low = csv(0, c), high = low, sum = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      low = (std::min)(low, csv(r, c));
      high = (std::max)(high, csv(r, c));
      sum += csv(r, c);
    }
    const double average = sum / static_cast<double>(rows.size());
    for (std::size_t r = 0; r < rows.size(); ++r)
      rows[r].features[c] =
          high > low ? static_cast<float>((csv(r, c) - average) / (high - low)) : 0.f;
  }
  for (std::size_t r = 0; r < rows.size(); ++r) rows[r].price = static_cast<float>(csv(r, 13));
  return source(std::move(rows));
}

source twin() {
  std::uint64_t drawn = 0;
  const auto uniform = [&drawn] { return uniform_at(506, 13, drawn++) - 0.5f; };
  std::vector<sample> rows(506);
  for (sample& row : rows) {
    double price = twin_bias;
    for (std::size_t i = 0; i < row.features.size(); ++i) {
      row.features[i] = uniform();
      price += static_cast<double>(twin_weights[i]) * static_cast<double>(row.features[i]);
    }
    price += 2.0 * static_cast<double>(twin_noise) * static_cast<double>(uniform());
    row.price = static_cast<float>(price);
  }
  return source(std::move(rows));
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset::housing
