// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/imdb.hpp - positive and negative film reviews: the Large Movie Review Dataset,
// aclImdb_v1.tar.gz. Source: Maas et al., "Learning word vectors for sentiment analysis" (ACL
// 2011).
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/dataset/archive_members.hpp>
#include <lamina/dataset/table.hpp>
#include <lamina/dataset/text_member.hpp>
#include <lamina/dataset/vocabulary.hpp>
#include <lamina/dataset/word_counter.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset::imdb {

/// A review, and whether it judges the film positively.
struct sample {
  std::vector<std::int64_t> words;  ///< ids of the dictionary
  std::int64_t label;               ///< 0: positive, 1: negative, as in PaddlePaddle
};

/// The options of reading the archive.
struct options {
  std::int64_t cutoff = 150;  ///< a word that occurs at most so often becomes "<unk>"
};

/// The reviews as ids of words, and the dictionary. All tables of a source share them.
class source {
 public:
  /// `files` must have members in the folders train/pos/, train/neg/, test/pos/ and test/neg/ of
  /// aclImdb/.
  LAMINA_COLD explicit source(const archive_members& files, const options& how = {})
      : data_(std::make_shared<const data>(files, how)) {}

  sample at(std::size_t row) const {
    const std::int32_t* ids = data_->ids.data();
    return {{ids + data_->begins[row], ids + data_->begins[row + 1]}, data_->labels[row]};
  }

  /// Returns the frequent words of all reviews, the most frequent first; equally frequent words are
  /// sorted by their bytes. The last word is "<unk>". Fluid: dataset.imdb.word_dict.
  const vocabulary& word_dict() const { return data_->words; }
  /// Return the positive reviews in the order of the archive, then the negative reviews. They must
  /// be shuffled for training. Fluid: dataset.imdb.train, test.
  table<source> train() const { return {*this, 0, data_->train_count}; }
  table<source> test() const { return {*this, data_->train_count, data_->labels.size()}; }

 private:
  static constexpr std::string_view folders[] = {"aclImdb/train/pos/", "aclImdb/train/neg/",
                                                 "aclImdb/test/pos/", "aclImdb/test/neg/"};

  struct data {
    LAMINA_API data(const archive_members& files, const options& how);
    LAMINA_API static vocabulary dictionary_of(const archive_members& files, const options& how);
    /// Removes ASCII punctuation and converts ASCII letters to lower case.
    LAMINA_API static std::string plain(std::string_view text);
    /// Whether a character is one of the 26 letters that begin at `first`.
    static bool is_between(char c, char first) { return c >= first && c < first + 26; }

    vocabulary words;
    std::size_t train_count = 0;
    std::vector<std::size_t> begins;  // the beginning of each review in ids
    std::vector<std::int32_t> ids;
    std::vector<std::uint8_t> labels;
  };
  std::shared_ptr<const data> data_;
};

namespace detail {
LAMINA_API bool is_review(std::string_view name);
#if LAMINA_DEFINES

bool is_review(std::string_view name) {
  return (name.starts_with("aclImdb/train/") || name.starts_with("aclImdb/test/")) &&
         (name.substr(name.find('/', 8) + 1).starts_with("pos/") ||
          name.substr(name.find('/', 8) + 1).starts_with("neg/")) &&
         name.ends_with(".txt");
}

#endif  // LAMINA_DEFINES

}  // namespace detail

/// Reads aclImdb_v1.tar.gz, which has one member per review. As in PaddlePaddle, ASCII punctuation
/// is removed, ASCII letters become lower case, and blanks separate words. Throws format_error for
/// a damaged archive, a missing folder, an empty review or text that is not UTF-8, and if no word
/// is frequent enough.
LAMINA_COLD inline source read(const std::string& path, const options& how = {}) {
  return source(read_tar_members(path, detail::is_review), how);
}

#if LAMINA_DEFINES

source::data::data(const archive_members& files, const options& how)
    : words(dictionary_of(files, how)), begins{0} {
  for (std::size_t folder = 0; folder < 4; ++folder) {
    for (const text_member& m : files.all) {
      if (!m.name.starts_with(folders[folder])) continue;
      for_each_word(plain(m.bytes), [&](std::string_view word) {
        ids.push_back(static_cast<std::int32_t>(words.id(word)));
      });
      begins.push_back(ids.size());
      labels.push_back(static_cast<std::uint8_t>(folder % 2));
    }
    if (folder == 1) train_count = labels.size();
  }
}

vocabulary source::data::dictionary_of(const archive_members& files, const options& how) {
  word_counter counts;
  bool found[4] = {};
  for (const text_member& m : files.all)
    for (std::size_t folder = 0; folder < 4; ++folder) {
      if (!m.name.starts_with(folders[folder])) continue;
      found[folder] = true;
      m.check_utf8();
      if (m.bytes.empty()) m.fail(0, "expected a review, found an empty member");
      for_each_word(plain(m.bytes), [&](std::string_view word) { counts.add(word); });
    }
  for (std::size_t folder = 0; folder < 4; ++folder)
    if (!found[folder])
      throw format_error(files.path, 0,
                         lamina::text("expected members '")
                             << folders[folder] << "*.txt', found none");
  return frequent_words(counts, how.cutoff, files.path);
}

std::string source::data::plain(std::string_view text) {
  std::string all;
  all.reserve(text.size());
  for (const char c : text) {
    const bool is_punctuation =
        c > ' ' && c < 127 && !(c >= '0' && c <= '9') && !is_between(c, 'A') && !is_between(c, 'a');
    if (!is_punctuation) all += is_between(c, 'A') ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return all;
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset::imdb
