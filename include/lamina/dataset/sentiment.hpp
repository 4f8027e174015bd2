// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/sentiment.hpp - positive and negative film reviews, divided into words as NLTK
// does: movie_reviews.zip. Source: Pang and Lee, "A sentimental education" (ACL 2004), polarity
// v2.0.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/dataset/archive_members.hpp>
#include <lamina/dataset/table.hpp>
#include <lamina/dataset/text_member.hpp>
#include <lamina/dataset/vocabulary.hpp>
#include <lamina/dataset/word_counter.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset::sentiment {

/// A review, and whether it judges the film positively.
struct sample {
  std::vector<std::int64_t> words;  ///< ids of the dictionary
  std::int64_t label;               ///< 1: positive, 0: negative
};

/// The options of splitting the archive.
struct options {
  /// Number of reviews for training, the first ones; the others are for test.
  std::size_t train_samples = 1600;
};

namespace detail {

inline constexpr std::string_view folders[2] = {"movie_reviews/neg/", "movie_reviews/pos/"};

inline bool is_review(std::string_view name) {
  return name.ends_with(".txt") && (name.starts_with(folders[0]) || name.starts_with(folders[1]));
}

/// Calls `visit(word)` for each word of a text. As in NLTK's WordPunctTokenizer, a word is a run of
/// letters, digits and "_", or a run of other characters except blanks.
template <class Visit>
void for_each_token(std::string_view text, Visit visit) {
  enum class kind : std::uint8_t { blank, word, other };
  const auto kind_of = [](char c) {
    if (c == ' ' || (c >= '\t' && c <= '\r') || (c >= 28 && c < 32)) return kind::blank;
    const bool is_word =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    return is_word ? kind::word : kind::other;
  };
  for (std::size_t begin = 0; begin < text.size();) {
    const kind is = kind_of(text[begin]);
    std::size_t end = begin + 1;
    while (end < text.size() && kind_of(text[end]) == is) ++end;
    if (is != kind::blank) visit(text.substr(begin, end - begin));
    begin = end;
  }
}

/// Converts a word to the form in which the dictionary stores it.
LAMINA_API std::string in_lower_case(std::string_view word);

#if LAMINA_DEFINES

std::string in_lower_case(std::string_view word) {
  std::string all(word);
  for (char& c : all)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return all;
}

#endif  // LAMINA_DEFINES

}  // namespace detail

/// The reviews as ids of words, and the dictionary. All tables of a source share them.
class source {
 public:
  /// `files` must have equally many members in the folders movie_reviews/neg/ and
  /// movie_reviews/pos/.
  LAMINA_COLD explicit source(const archive_members& files, const options& how = {})
      : data_(std::make_shared<const data>(files, how)) {}

  sample at(std::size_t row) const {
    const std::int32_t* ids = data_->ids.data();
    return {{ids + data_->begins[row], ids + data_->begins[row + 1]},
            static_cast<std::int64_t>(row % 2)};
  }

  /// Returns all words, the most frequent first. Equally frequent words are in the order of their
  /// first occurrence in all negative reviews followed by all positive reviews. Fluid:
  /// dataset.sentiment.get_word_dict.
  const vocabulary& word_dict() const { return data_->words; }
  /// Return negative and positive reviews in turn, beginning with a negative one, each in the order
  /// of their names. Fluid: dataset.sentiment.train, test.
  table<source> train() const { return {*this, 0, data_->train_samples}; }
  table<source> test() const { return {*this, data_->train_samples, data_->begins.size() - 1}; }

 private:
  using members = std::vector<const text_member*>;

  struct data {
    data(const archive_members& files, const options& how)
        : data(reviews_of(files, 0), reviews_of(files, 1), files.path, how) {}
    LAMINA_API data(const members& blame, const members& praise, const std::string& path,
                    const options& how);
    /// Returns the reviews of a folder, sorted by name.
    LAMINA_API static members reviews_of(const archive_members& files, std::size_t folder);
    LAMINA_API static vocabulary dictionary_of(const members& blame, const members& praise);

    vocabulary words;
    std::size_t train_samples;
    std::vector<std::size_t> begins;  // the beginning of each review in ids
    std::vector<std::int32_t> ids;
  };
  std::shared_ptr<const data> data_;
};

/// Reads movie_reviews.zip of NLTK: 1,000 negative and 1,000 positive reviews, one member per
/// review. Texts are divided into words as NLTK's WordPunctTokenizer does. Throws format_error for
/// a damaged archive, a missing folder, an empty review, a byte that is not ASCII, fewer reviews
/// than `train_samples`, and a word with capital letters whose form in lower case does not occur.
LAMINA_COLD inline source read(const std::string& path, const options& how = {}) {
  return source(read_zip_members(path, detail::is_review), how);
}

#if LAMINA_DEFINES

source::data::data(const members& blame, const members& praise, const std::string& path,
                   const options& how)
    : words(dictionary_of(blame, praise)), train_samples(how.train_samples), begins{0} {
  if (blame.size() != praise.size())
    throw format_error(
        path, 0,
        lamina::text("expected as many reviews that blame as reviews that praise, found ")
            << blame.size() << " and " << praise.size());
  if (train_samples > 2 * blame.size())
    throw format_error(path, 0,
                       lamina::text("expected at least ")
                           << train_samples << " reviews, found " << 2 * blame.size());
  for (std::size_t i = 0; i < blame.size(); ++i)
    for (const text_member* m : {blame[i], praise[i]}) {
      detail::for_each_token(m->bytes, [&](std::string_view word) {
        const std::string known = detail::in_lower_case(word);
        if (!words.contains(known))
          m->fail(static_cast<std::size_t>(word.data() - m->bytes.data()),
                  "expected words in small letters, found " + in_quotes(word));
        ids.push_back(static_cast<std::int32_t>(words.id(known)));
      });
      begins.push_back(ids.size());
    }
}

source::members source::data::reviews_of(const archive_members& files, std::size_t folder) {
  members all;
  for (const text_member& m : files.all)
    if (m.name.starts_with(detail::folders[folder])) all.push_back(&m);
  if (all.empty())
    throw format_error(files.path, 0,
                       lamina::text("expected members '")
                           << detail::folders[folder] << "*.txt', found none");
  std::sort(all.begin(), all.end(),
            [](const text_member* a, const text_member* b) { return a->name < b->name; });
  return all;
}

vocabulary source::data::dictionary_of(const members& blame, const members& praise) {
  word_counter counts;
  for (const members* both : {&blame, &praise})
    for (const text_member* m : *both) {
      if (m->bytes.empty()) m->fail(0, "expected a review, found an empty member");
      for (std::size_t i = 0; i < m->bytes.size(); ++i)
        if (static_cast<unsigned char>(m->bytes[i]) >= 128)
          m->fail(i, lamina::text("expected ASCII, found the byte ")
                         << static_cast<unsigned>(static_cast<unsigned char>(m->bytes[i])));
      detail::for_each_token(m->bytes, [&](std::string_view word) { counts.add(word); });
    }
  std::vector<std::string> ordered = counts.by_first_occurrence();
  if (ordered.empty()) blame.front()->fail(0, "expected a word, found none in all reviews");
  return {std::move(ordered), 0};
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset::sentiment
