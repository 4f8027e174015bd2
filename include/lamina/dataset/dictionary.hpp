// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/dictionary.hpp - converts words to ids.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset {

/// The number of occurrences of each word.
using word_counts = std::map<std::string, std::int64_t, std::less<>>;

/// Adds one occurrence of a word.
LAMINA_API void count_word(word_counts& counts, std::string_view word);

/// Converts words to ids, and ids to words. All unknown words have the id 0. The known words have
/// the ids 1, 2, ... by frequency, the most frequent first; equally frequent words are sorted by
/// their bytes.
class dictionary {
 public:
  /// Makes a dictionary with the `size - 1` most frequent words, or with all words if there are
  /// fewer, and the unknown word. So all ids are below `size`, and an embedding needs at most
  /// `size` rows. Throws lamina::error for a size below 2.
  LAMINA_API LAMINA_COLD dictionary(const word_counts& counts, std::int64_t size);

  /// Returns the number of ids, including the id of the unknown word.
  std::int64_t size() const { return static_cast<std::int64_t>(words_.size()); }

  /// Returns the id of a word; 0 if the dictionary does not contain the word.
  std::int64_t id(std::string_view word) const {
    const auto found = ids_.find(word);
    return found == ids_.end() ? 0 : found->second;
  }

  /// Returns the word of an id; "<unk>" for 0. Throws lamina::error if the id does not exist.
  LAMINA_API const std::string& word(std::int64_t id) const;

 private:
  std::map<std::string, std::int64_t, std::less<>> ids_;
  std::vector<std::string> words_;
};

#if LAMINA_DEFINES

void count_word(word_counts& counts, std::string_view word) {
  const auto found = counts.find(word);
  if (found != counts.end())
    ++found->second;
  else
    counts.emplace(word, 1);
}

dictionary::dictionary(const word_counts& counts, std::int64_t size) {
  if (size < 2)
    throw error(lamina::text() << "lamina: dataset::dictionary: expected a size of at least 2, "
                                  "the unknown word and one more, found "
                               << size);
  std::vector<word_counts::const_iterator> order;
  for (auto it = counts.begin(); it != counts.end(); ++it) order.push_back(it);
  std::sort(order.begin(), order.end(), [](auto a, auto b) {
    return a->second != b->second ? a->second > b->second : a->first < b->first;
  });
  words_.emplace_back("<unk>");
  for (const auto& it : order) {
    if (this->size() == size) break;
    ids_.emplace(it->first, this->size());
    words_.push_back(it->first);
  }
}

const std::string& dictionary::word(std::int64_t id) const {
  if (id < 0 || id >= size())
    throw error(lamina::text() << "lamina: dataset::dictionary: expected an id from 0 to "
                               << size() - 1 << ", found " << id);
  return words_[static_cast<std::size_t>(id)];
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset
