// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/mq2007.hpp - MQ2007, a data set for ranking: queries, and documents with labels of
// relevance, in the text format of LETOR. Source: Qin and Liu, "Introducing LETOR 4.0 datasets"
// (2013).
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/dataset/byte_source.hpp>
#include <lamina/dataset/table.hpp>
#include <lamina/dataset/text_member.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset::mq2007 {

/// The features of a query and a document.
using features = std::array<float, 46>;

/// A document, and its relevance for a query.
struct document {
  float label;  ///< 0 (not at all) to 2
  features vector;
};
/// Two documents of one query; the left one is more relevant.
struct pair {
  float label;  ///< 1, as in PaddlePaddle
  features left, right;
};
/// All documents of a query, the most relevant first.
struct query {
  std::int64_t id;
  std::vector<float> labels;
  std::vector<features> vectors;
};

/// The queries of a file. Queries without a relevant document are left out, as in PaddlePaddle. The
/// documents of a query are sorted by their labels, the highest first; documents with equal labels
/// have the order of the file. All tables of a source share the queries.
class source {
 public:
  LAMINA_COLD explicit source(const text_member& file)
      : data_(std::make_shared<const data>(file)) {}

  /// Returns one sample per document. Fluid: mq2007.train(format="pointwise"), which returns only
  /// the first document of each query.
  auto pointwise() const { return table<points>({data_}, 0, data_->documents.size()); }
  /// Returns one sample for each pair of documents of a query that have different labels. Fluid:
  /// mq2007.train(), with format="pairwise".
  auto pairwise() const { return table<pairs>({data_}, 0, data_->pairs.size()); }
  /// Returns one sample per query. Fluid: mq2007.train(format="listwise").
  auto listwise() const { return table<lists>({data_}, 0, data_->queries.size()); }

 private:
  struct rows {  // documents[first, last) are those of a query
    std::int64_t id;
    std::size_t first, last;
  };
  struct two {
    std::uint32_t left, right;
  };
  struct data {
    LAMINA_API explicit data(const text_member& file);

    LAMINA_API void add(const text_line& line);
    /// Returns the text after "KEY:" in a word. Throws format_error if the word does not begin with
    /// it.
    LAMINA_API static std::string_view behind(const text_line& line, std::string_view word,
                                              std::string_view key);
    LAMINA_API static float feature(const text_line& line, std::string_view word,
                                    std::size_t number);
    /// Sorts the documents of the query that ends here; removes them if none is relevant.
    LAMINA_API void end_query();

    std::vector<document> documents;
    std::vector<rows> queries;
    std::vector<two> pairs;
    rows open{};
    bool begun = false;
  };

  struct points {
    std::shared_ptr<const data> of;
    document at(std::size_t row) const { return of->documents[row]; }
  };
  struct pairs {
    std::shared_ptr<const data> of;
    pair at(std::size_t row) const {
      const two& both = of->pairs[row];
      return {1, of->documents[both.left].vector, of->documents[both.right].vector};
    }
  };
  struct lists {
    std::shared_ptr<const data> of;
    LAMINA_API query at(std::size_t row) const;
  };
  std::shared_ptr<const data> data_;
};

/// Reads a text of LETOR, which may be compressed with gzip. It has a line per document, "RELEVANCE
/// qid:QUERY 1:X ... 46:X #COMMENT"; the lines of a query must be consecutive. Throws format_error
/// for any other line, and if no document is relevant.
LAMINA_COLD inline source read(const std::string& path) {
  return source({path, {}, read_bytes(path)});
}

/// Returns the queries for training, from Fold1/train.txt in `folder`, the folder MQ2007/MQ2007 of
/// the unpacked archive MQ2007.rar. Fluid: dataset.mq2007.train.
LAMINA_COLD inline source train(const std::string& folder) {
  return read((std::filesystem::path(folder) / "Fold1" / "train.txt").string());
}
/// Returns the queries for test, from Fold1/test.txt in `folder`; see train. Fluid:
/// dataset.mq2007.test.
LAMINA_COLD inline source test(const std::string& folder) {
  return read((std::filesystem::path(folder) / "Fold1" / "test.txt").string());
}

#if LAMINA_DEFINES

source::data::data(const text_member& file) {
  for_each_line(file, [&](const text_line& line) { add(line); });
  end_query();
  if (queries.empty())
    file.fail(0, "MQ2007: expected a query with a document that answers it, found none");
}

void source::data::add(const text_line& line) {
  const std::size_t comment = line.text.find('#');
  const std::string_view content = trimmed(line.text.substr(0, comment));
  std::size_t count = 0;
  document read{};
  std::int64_t id = 0;
  for_each_word(content, [&](std::string_view word) {
    if (count == 0)
      read.label = static_cast<float>(whole_number(line, word, "a relevance", 0, 1000000));
    else if (count == 1)
      id = whole_number(line, behind(line, word, "qid"), "a query", 0, INT64_MAX);
    else if (count < 48)
      read.vector[count - 2] = feature(line, word, count - 1);
    ++count;
  });
  if (count != 48)
    line.fail(lamina::text("MQ2007: expected a relevance, 'qid:' and 46 features, found ")
              << count << " words");
  if (begun && id != open.id) end_query();
  if (!begun) open = {id, documents.size(), documents.size()};
  begun = true;
  documents.push_back(read);
}

std::string_view source::data::behind(const text_line& line, std::string_view word,
                                      std::string_view key) {
  if (!word.starts_with(key) || word.size() <= key.size() || word[key.size()] != ':')
    line.fail(word, lamina::text("MQ2007: expected '") << key << ":', found " << in_quotes(word));
  return word.substr(key.size() + 1);
}

float source::data::feature(const text_line& line, std::string_view word, std::size_t number) {
  const std::string_view digits = behind(line, word, std::to_string(number));
  float value = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, failure] = std::from_chars(digits.data(), last, value);
  if (failure != std::errc() || end != last || !std::isfinite(value))
    line.fail(digits, lamina::text("MQ2007: expected a number, found ") << in_quotes(digits));
  return value;
}

void source::data::end_query() {
  if (!begun) return;
  begun = false;
  const auto first = documents.begin() + static_cast<std::ptrdiff_t>(open.first);
  std::stable_sort(first, documents.end(),
                   [](const document& a, const document& b) { return a.label > b.label; });
  if (!(documents[open.first].label > 0)) return documents.resize(open.first);
  open.last = documents.size();
  if (open.last > UINT32_MAX)
    throw error("lamina: dataset::mq2007: expected fewer than 2^32 documents, found more");
  queries.push_back(open);
  for (std::size_t i = open.first; i < open.last; ++i)
    for (std::size_t j = i + 1; j < open.last; ++j)
      if (documents[i].label > documents[j].label)
        pairs.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j)});
}

query source::lists::at(std::size_t row) const {
  const rows& which = of->queries[row];
  query all{which.id, {}, {}};
  for (std::size_t i = which.first; i < which.last; ++i) {
    all.labels.push_back(of->documents[i].label);
    all.vectors.push_back(of->documents[i].vector);
  }
  return all;
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset::mq2007
