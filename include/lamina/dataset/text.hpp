// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/text.hpp - the characters of a text file, for models that predict the next
// character.
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

#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>
#include <lamina/dataset/byte_source.hpp>
#include <lamina/dataset/dictionary.hpp>
#include <lamina/dataset/table.hpp>

namespace lamina::inline LAMINA_ABI::dataset::text {

/// A piece of the text: for each character, also the character that follows it.
struct sample {
  std::vector<std::int64_t> characters;  ///< ids of the alphabet
  std::vector<std::int64_t> next;        ///< as many: next[i] follows characters[i]
};

/// How a text is read.
struct options {
  std::int64_t alphabet_size = 256;  ///< ids are below this number; 0 is every unknown character
  double held_out = 0.1;             ///< the part at the end of the text that is for testing, 0 to
                                     ///< below 1
};

namespace detail {

/// The number of bytes of the UTF-8 character at bytes[at], or 0 if it is not valid by RFC 3629: no
/// overlong forms, no surrogates, nothing above U+10FFFF.
constexpr std::size_t utf8_length(std::string_view bytes, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first < 0xF0) {
    const bool fits = !(first == 0xE0 && second < 0xA0) && !(first == 0xED && second > 0x9F);
    return fits && follows(1) && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first < 0xF5) {
    const bool fits = !(first == 0xF0 && second < 0x90) && !(first == 0xF4 && second > 0x8F);
    return fits && follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace detail

/// Ids [first, last) of a text, divided into pieces of `length` characters.
class pieces {
 public:
  pieces(std::shared_ptr<const std::vector<std::int32_t>> ids, std::size_t first, std::size_t last,
         std::size_t length)
      : ids_(std::move(ids)), first_(first), last_(last), length_(length) {}

  std::size_t count() const {
    return last_ - first_ < 2 ? 0 : (last_ - first_ - 1 + length_ - 1) / length_;
  }
  sample at(std::size_t row) const {
    const std::size_t from = first_ + row * length_;
    const std::size_t to = (std::min)(from + length_, last_ - 1);
    const auto begin = ids_->begin();
    const auto id = [&](std::size_t i) { return begin + static_cast<std::ptrdiff_t>(i); };
    return {{id(from), id(to)}, {id(from + 1), id(to + 1)}};
  }

 private:
  std::shared_ptr<const std::vector<std::int32_t>> ids_;
  std::size_t first_, last_, length_;
};

/// A text as ids, shared by all tables made from it.
class source {
 public:
  LAMINA_COLD source(std::vector<std::int32_t> ids, std::size_t train_size, dictionary known)
      : ids_(std::make_shared<const std::vector<std::int32_t>>(std::move(ids))),
        train_size_(train_size),
        alphabet_(std::make_shared<const dictionary>(std::move(known))) {}

  /// The characters of the training part, each as UTF-8.
  const dictionary& alphabet() const { return *alphabet_; }
  /// The id of each character of the whole text.
  const std::vector<std::int32_t>& ids() const { return *ids_; }
  /// The number of characters of the training part.
  std::size_t train_size() const { return train_size_; }

  /// The training part, and the held-out end of the text, in consecutive pieces of `length`
  /// characters; the last piece may be shorter. Error: length below 1.
  table<pieces> train(std::size_t length) const { return cut(0, train_size_, length); }
  table<pieces> test(std::size_t length) const { return cut(train_size_, ids_->size(), length); }

 private:
  LAMINA_COLD table<pieces> cut(std::size_t first, std::size_t last, std::size_t length) const {
    if (length == 0)
      throw error("lamina: dataset::text: expected pieces of at least 1 character, found 0");
    const pieces all(ids_, first, last, length);
    return {all, 0, all.count()};
  }

  std::shared_ptr<const std::vector<std::int32_t>> ids_;
  std::size_t train_size_;
  std::shared_ptr<const dictionary> alphabet_;
};

/// Reads a file of UTF-8 text. The alphabet has the most frequent characters of the training part.
/// Errors: a missing file; an alphabet_size below 2; a held_out below 0 or not below 1;
/// format_error for bytes that are not UTF-8 and for a file of fewer than 2 characters.
LAMINA_COLD inline source read(const std::string& path, const options& how = {}) {
  if (!(how.held_out >= 0 && how.held_out < 1))
    throw error((lamina::text() << "lamina: dataset::text: expected a held-out part from 0 to "
                                   "below 1, found ")
                    .print("%g", how.held_out));
  const std::string bytes = dataset::read_bytes(path);
  std::vector<std::string_view> all;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = detail::utf8_length(bytes, at);
    if (length == 0)
      throw format_error(path, at,
                         lamina::text()
                             << "text: expected UTF-8, found the byte "
                             << static_cast<unsigned>(static_cast<unsigned char>(bytes[at])));
    all.push_back(std::string_view(bytes).substr(at, length));
    at += length;
  }
  if (all.size() < 2)
    throw format_error(path, bytes.size(),
                       lamina::text()
                           << "text: expected at least 2 characters, found " << all.size());
  const auto tail = static_cast<std::size_t>(static_cast<double>(all.size()) * how.held_out + 0.5);
  const std::size_t train_size = all.size() - tail;
  word_counts counts;
  for (std::size_t i = 0; i < train_size; ++i) count_word(counts, all[i]);
  dictionary known(counts, how.alphabet_size);
  std::vector<std::int32_t> ids;
  for (const std::string_view c : all) ids.push_back(static_cast<std::int32_t>(known.id(c)));
  return source(std::move(ids), train_size, std::move(known));
}

}  // namespace lamina::inline LAMINA_ABI::dataset::text
