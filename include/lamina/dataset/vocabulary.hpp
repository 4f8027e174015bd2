// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/vocabulary.hpp - a map from words to ids, in the order that a data set defines.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset {

namespace detail {
/// A hash function for std::string and std::string_view, so that a look-up does not copy the word.
struct word_hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view word) const noexcept {
    return std::hash<std::string_view>()(word);
  }
};
}  // namespace detail

/// A map from words to values, with constant-time look-up.
template <class T>
using word_map = std::unordered_map<std::string, T, detail::word_hash, std::equal_to<>>;

/// Words with the ids 0, 1, 2, ... in a given order. All other words have the id of the unknown
/// word. If the order does not matter, the class dictionary is simpler: it sorts words by
/// frequency.
class vocabulary {
 public:
  /// words[i] gets the id i. If a word occurs twice, it has the later id, as in a dict that Python
  /// fills line by line. Throws lamina::error if `unknown` is not an id of a word.
  LAMINA_API LAMINA_COLD vocabulary(std::vector<std::string> words, std::int64_t unknown);

  /// Returns the number of ids.
  std::int64_t size() const { return static_cast<std::int64_t>(words_.size()); }
  /// Returns the id of words that the vocabulary does not contain.
  std::int64_t unknown() const { return unknown_; }
  bool contains(std::string_view word) const { return ids_.find(word) != ids_.end(); }

  /// Returns the id of a word; unknown() if the vocabulary does not contain the word.
  std::int64_t id(std::string_view word) const {
    const auto found = ids_.find(word);
    return found == ids_.end() ? unknown_ : found->second;
  }

  /// Returns the word of an id. Throws lamina::error if the id does not exist.
  LAMINA_API const std::string& word(std::int64_t id) const;
  /// Returns all words, in the order of their ids.
  const std::vector<std::string>& words() const { return words_; }

 private:
  std::vector<std::string> words_;
  word_map<std::int64_t> ids_;
  std::int64_t unknown_;
};

#if LAMINA_DEFINES

vocabulary::vocabulary(std::vector<std::string> words, std::int64_t unknown)
    : words_(std::move(words)), unknown_(unknown) {
  if (unknown < 0 || unknown >= size())
    throw error(lamina::text() << "lamina: dataset::vocabulary: expected an unknown word among "
                               << size() << " words, found the id " << unknown);
  for (std::size_t i = 0; i < words_.size(); ++i)
    ids_.insert_or_assign(words_[i], static_cast<std::int64_t>(i));
}

const std::string& vocabulary::word(std::int64_t id) const {
  if (id < 0 || id >= size())
    throw error(lamina::text() << "lamina: dataset::vocabulary: expected an id from 0 to "
                               << size() - 1 << ", found " << id);
  return words_[static_cast<std::size_t>(id)];
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset
