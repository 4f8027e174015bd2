// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/word_counter.hpp - counts words and sorts them by frequency.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/dataset/vocabulary.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset {

/// Counts words, and returns them sorted by frequency, the most frequent first. Equally frequent
/// words are sorted by their bytes or by their first occurrence.
class word_counter {
 public:
  LAMINA_API void add(std::string_view word, std::int64_t times = 1);
  /// Returns the number of occurrences of a word.
  std::int64_t count(std::string_view word) const {
    const auto found = counts_.find(word);
    return found == counts_.end() ? 0 : found->second.count;
  }

  /// Returns the words that occur more than `cutoff` times, without the word `left_out`. Equally
  /// frequent words are sorted by their bytes.
  LAMINA_COLD std::vector<std::string> by_bytes(std::int64_t cutoff,
                                                std::string_view left_out = {}) const {
    return ordered(cutoff, left_out, [](const item& a, const item& b) {
      return a.second.count != b.second.count ? a.second.count > b.second.count : a.first < b.first;
    });
  }
  /// Returns all words; equally frequent words are in the order in which they were added first.
  LAMINA_API LAMINA_COLD std::vector<std::string> by_first_occurrence() const;

 private:
  struct entry {
    std::int64_t count;
    std::int64_t first;  // how many other words were added before this word
  };
  using item = word_map<entry>::value_type;

  template <class Before>
  std::vector<std::string> ordered(std::int64_t cutoff, std::string_view left_out,
                                   Before before) const {
    std::vector<const item*> all;
    for (const item& i : counts_)
      if (i.second.count > cutoff && (left_out.empty() || i.first != left_out)) all.push_back(&i);
    std::sort(all.begin(), all.end(), [&](const item* a, const item* b) { return before(*a, *b); });
    std::vector<std::string> words;
    words.reserve(all.size() + 1);
    for (const item* i : all) words.push_back(i->first);
    return words;
  }

  word_map<entry> counts_;
};

/// Returns a vocabulary of the words that occur more than `cutoff` times, the most frequent first;
/// equally frequent words are sorted by their bytes. "<unk>" is the last word. Throws format_error
/// with the path of the file if no word is frequent enough.
LAMINA_API_COLD vocabulary frequent_words(const word_counter& counts, std::int64_t cutoff,
                                          const std::string& path);

#if LAMINA_DEFINES

void word_counter::add(std::string_view word, std::int64_t times) {
  auto found = counts_.find(word);
  if (found == counts_.end())
    found = counts_.emplace(word, entry{0, static_cast<std::int64_t>(counts_.size())}).first;
  found->second.count += times;
}

std::vector<std::string> word_counter::by_first_occurrence() const {
  return ordered(0, {}, [](const item& a, const item& b) {
    return a.second.count != b.second.count ? a.second.count > b.second.count
                                            : a.second.first < b.second.first;
  });
}

vocabulary frequent_words(const word_counter& counts, std::int64_t cutoff,
                          const std::string& path) {
  std::vector<std::string> words = counts.by_bytes(cutoff, "<unk>");
  if (words.empty())
    throw format_error(path, 0,
                       lamina::text("expected a word that occurs more than ")
                           << cutoff << " times, found none");
  words.emplace_back("<unk>");
  const auto unknown = static_cast<std::int64_t>(words.size()) - 1;
  return {std::move(words), unknown};
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset
