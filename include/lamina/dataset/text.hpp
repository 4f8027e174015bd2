// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/text.hpp - splits a text into characters or words, for language models.
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
#include <lamina/dataset/byte_source.hpp>
#include <lamina/dataset/dictionary.hpp>
#include <lamina/dataset/table.hpp>
#include <lamina/dataset/utf8.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset::text {

/// A piece of the text: its elements, and for each element the element that follows it.
struct sample {
  std::vector<std::int64_t> ids;   ///< ids of the elements in the alphabet
  std::vector<std::int64_t> next;  ///< as many elements: next[i] follows ids[i] in the text
};

/// The kind of elements of a text: characters, or words and punctuation marks. A word is a run of
/// letters and digits; an apostrophe before a letter or digit belongs to the word ("'tis",
/// "don't"). Ends of lines and punctuation marks are elements of their own. Other blanks only
/// separate words. Upper and lower case are different: "The" is not "the".
enum class unit : std::uint8_t { character, word };

/// The options of reading a text.
struct options {
  std::int64_t alphabet_size = 256;  ///< the number of ids; id 0 is that of all unknown elements
  /// The fraction at the end of the text that is for testing, 0 to 1.
  double held_out = 0.1;
  unit elements = unit::character;
};

namespace detail {

/// The role of a UTF-8 character within a word.
enum class sign : std::uint8_t { letter, apostrophe, blank, other };
constexpr sign sign_of(std::string_view character) {
  unsigned code = static_cast<unsigned char>(character[0]);
  if (character.size() > 1) code &= 0x7Fu >> character.size();
  for (const char c : character.substr(1)) code = code << 6 | (static_cast<unsigned>(c) & 0x3F);
  const auto lies = [&](unsigned low, unsigned high) { return code >= low && code <= high; };
  if (code == '\'' || code == 0x2019) return sign::apostrophe;
  if (code == ' ' || lies(9, 13) || code == 0xA0 || lies(0x2000, 0x200A) || code == 0x3000)
    return code == '\n' ? sign::other : sign::blank;
  // All characters that are not ASCII count as letters, except the signs of Latin-1 and two blocks
  // of punctuation marks.
  const bool letter = lies('0', '9') || lies('A', 'Z') || lies('a', 'z') ||
                      (code > 0xBF && !lies(0x2000, 0x206F) && !lies(0x3000, 0x303F));
  return letter ? sign::letter : sign::other;
}

/// Returns the words and punctuation marks that consist of these characters. The characters must be
/// contiguous in memory.
LAMINA_API_COLD std::vector<std::string_view> words_of(
    const std::vector<std::string_view>& characters);

#if LAMINA_DEFINES

std::vector<std::string_view> words_of(const std::vector<std::string_view>& characters) {
  const auto is_letter = [&](std::size_t i) {
    return i < characters.size() && sign_of(characters[i]) == sign::letter;
  };
  const auto is_inside = [&](std::size_t i) {
    return is_letter(i) || (is_letter(i + 1) && sign_of(characters[i]) == sign::apostrophe);
  };
  std::vector<std::string_view> words;
  for (std::size_t i = 0, end = 0; i < characters.size(); i = end) {
    std::size_t length = 0;
    for (end = i; is_inside(end); ++end) length += characters[end].size();
    if (end > i)
      words.emplace_back(characters[i].data(), length);
    else if (sign_of(characters[end++]) != sign::blank)
      words.push_back(characters[i]);
  }
  return words;
}

#endif  // LAMINA_DEFINES

}  // namespace detail

/// The elements [first, last) of a text, in pieces of `length` elements.
class pieces {
 public:
  pieces(std::shared_ptr<const std::vector<std::int32_t>> ids, std::size_t first, std::size_t last,
         std::size_t length)
      : ids_(std::move(ids)), first_(first), last_(last), length_(length) {}

  std::size_t count() const {
    return last_ - first_ < 2 ? 0 : (last_ - first_ - 1 + length_ - 1) / length_;
  }
  LAMINA_API sample at(std::size_t row) const;

 private:
  std::shared_ptr<const std::vector<std::int32_t>> ids_;
  std::size_t first_, last_, length_;
};

/// A text as ids of its elements. All tables of a source share it.
class source {
 public:
  LAMINA_COLD source(std::vector<std::int32_t> ids, std::size_t train_size, dictionary known)
      : ids_(std::make_shared<const std::vector<std::int32_t>>(std::move(ids))),
        train_size_(train_size),
        alphabet_(std::make_shared<const dictionary>(std::move(known))) {}

  /// Returns the dictionary of the elements of the part for training, each as UTF-8.
  const dictionary& alphabet() const { return *alphabet_; }
  /// Returns the id of each element of the whole text.
  const std::vector<std::int32_t>& ids() const { return *ids_; }
  /// Returns the number of elements of the part for training.
  std::size_t train_size() const { return train_size_; }

  /// Return the part for training, and the end of the text for testing, in consecutive pieces of
  /// `length` elements; the last piece may be shorter. Throws lamina::error for a length below 1.
  table<pieces> train(std::size_t length) const { return cut(0, train_size_, length); }
  table<pieces> test(std::size_t length) const { return cut(train_size_, ids_->size(), length); }

 private:
  LAMINA_API LAMINA_COLD table<pieces> cut(std::size_t first, std::size_t last,
                                           std::size_t length) const;

  std::shared_ptr<const std::vector<std::int32_t>> ids_;
  std::size_t train_size_;
  std::shared_ptr<const dictionary> alphabet_;
};

namespace detail {

LAMINA_API_COLD source source_of(std::string_view bytes, const std::string& name,
                                 const options& how);

#if LAMINA_DEFINES

source source_of(std::string_view bytes, const std::string& name, const options& how) {
  if (!(how.held_out >= 0 && how.held_out < 1))
    throw error((lamina::text() << "lamina: dataset::text: expected a held-out part from 0 to "
                                   "below 1, found ")
                    .print("%g", how.held_out));
  std::vector<std::string_view> all;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = utf8_length(bytes, at);
    if (length == 0)
      throw format_error(name, at,
                         lamina::text()
                             << "text: expected UTF-8, found the byte "
                             << static_cast<unsigned>(static_cast<unsigned char>(bytes[at])));
    all.push_back(bytes.substr(at, length));
    at += length;
  }
  const bool words = how.elements == unit::word;
  if (words) all = words_of(all);
  if (all.size() < 2)
    throw format_error(name, bytes.size(),
                       lamina::text()
                           << "text: expected at least 2 " << (words ? "words" : "characters")
                           << ", found " << all.size());
  const auto tail = static_cast<std::size_t>(static_cast<double>(all.size()) * how.held_out + 0.5);
  const std::size_t train_size = all.size() - tail;
  word_counts counts;
  for (std::size_t i = 0; i < train_size; ++i) count_word(counts, all[i]);
  dictionary known(counts, how.alphabet_size);
  std::vector<std::int32_t> ids;
  for (const std::string_view c : all) ids.push_back(static_cast<std::int32_t>(known.id(c)));
  return source(std::move(ids), train_size, std::move(known));
}

#endif  // LAMINA_DEFINES

}  // namespace detail

/// Reads a file of UTF-8 text. The alphabet has the most frequent elements of the part for
/// training. Throws lamina::error for a missing file, for an alphabet_size below 2 and for a
/// held_out that is not from 0 to 1. Throws format_error for bytes that are not UTF-8, and for a
/// file of fewer than 2 elements.
LAMINA_COLD inline source read(const std::string& path, const options& how = {}) {
  return detail::source_of(dataset::read_bytes(path), path, how);
}
/// Does the same for a text in memory: `text::parse("a b a", {.elements = text::unit::word})`.
LAMINA_COLD inline source parse(std::string_view bytes, const options& how = {}) {
  return detail::source_of(bytes, "text", how);
}

#if LAMINA_DEFINES

sample pieces::at(std::size_t row) const {
  const std::size_t from = first_ + row * length_;
  const std::size_t to = (std::min)(from + length_, last_ - 1);
  const auto begin = ids_->begin();
  const auto id = [&](std::size_t i) { return begin + static_cast<std::ptrdiff_t>(i); };
  return {{id(from), id(to)}, {id(from + 1), id(to + 1)}};
}

table<pieces> source::cut(std::size_t first, std::size_t last, std::size_t length) const {
  if (length == 0)
    throw error("lamina: dataset::text: expected pieces of at least 1 element, found 0");
  const pieces all(ids_, first, last, length);
  return {all, 0, all.count()};
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset::text
