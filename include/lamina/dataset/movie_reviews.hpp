// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/movie_reviews.hpp - positive and negative sentences of film reviews, and synthetic
// data that need no files. Source: Pang and Lee, "Seeing stars" (ACL 2005), sentence polarity
// dataset v1.0.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/core/numbers/philox.hpp>
#include <lamina/dataset/byte_source.hpp>
#include <lamina/dataset/dictionary.hpp>
#include <lamina/dataset/table.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset::movie_reviews {

/// A sentence, and whether it judges the film positively.
struct sample {
  std::vector<std::int64_t> words;  ///< ids of the dictionary; at least one word
  std::int64_t label;               ///< 1: positive, 0: negative
};

namespace detail {

/// Sentences as text, in the order in which they are used.
struct sentences {
  struct sentence {
    std::string text;  // words with blanks between them
    std::int64_t label;
  };
  std::vector<sentence> all;

  std::size_t train_count() const { return all.size() * 9 / 10; }

  // Shuffles the sentences (Fisher-Yates) with random numbers of a separate Philox stream.
  LAMINA_API void shuffle();
};

/// Calls `visit(word)` for each word of a line.
template <class Visit>
void for_each_word(std::string_view line, Visit visit) {
  constexpr std::string_view blanks = " \t\r";
  for (std::size_t at = line.find_first_not_of(blanks); at != line.npos;) {
    const std::size_t end = line.find_first_of(blanks, at);
    visit(line.substr(at, end - at));
    at = line.find_first_not_of(blanks, end);
  }
}

LAMINA_API_COLD void check_line(const std::string& path, std::size_t offset, std::string_view line);

LAMINA_API_COLD void read_lines(const std::string& path, std::int64_t label, sentences& to);

#if LAMINA_DEFINES

void sentences::shuffle() {
  for (std::size_t left = all.size(); left > 1; --left) {
    const random_words drawn = philox(2005, 1, left);
    std::swap(all[left - 1], all[(std::uint64_t{drawn.word[0]} << 32 | drawn.word[1]) % left]);
  }
}

void check_line(const std::string& path, std::size_t offset, std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    const unsigned byte = static_cast<unsigned char>(line[i]);
    if ((byte < 32 && byte != '\t' && byte != '\r') || byte == 127)
      throw format_error(path, offset + i,
                         lamina::text()
                             << "movie reviews: expected text, found the control byte " << byte);
  }
  if (line.find_first_not_of(" \t\r") == line.npos)
    throw format_error(path, offset,
                       "movie reviews: expected a sentence on every line, found an empty line");
}

void read_lines(const std::string& path, std::int64_t label, sentences& to) {
  const std::string bytes = dataset::read_bytes(path);
  if (bytes.empty())
    throw format_error(path, 0, "movie reviews: expected at least one sentence, found none");
  const std::string_view all = bytes;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find('\n', at);
    const std::string_view line = all.substr(at, end == all.npos ? end : end - at);
    check_line(path, at, line);
    to.all.push_back({std::string(line), label});
    at = end == all.npos ? all.size() : end + 1;
  }
}

#endif  // LAMINA_DEFINES

}  // namespace detail

/// The sentences as ids of words, and the dictionary. All tables of a source share them.
class source {
 public:
  /// Makes the dictionary from the words of the sentences for training only.
  LAMINA_COLD source(const detail::sentences& from, std::int64_t dictionary_size)
      : data_(std::make_shared<const data>(from, dictionary_size)) {}

  sample at(std::size_t row) const {
    const auto first = data_->ids.begin() + data_->begins[row];
    const auto last = data_->ids.begin() + data_->begins[row + 1];
    return {{first, last}, data_->labels[row]};
  }

  /// Returns the dictionary of the words of the sentences for training.
  const dictionary& words() const { return data_->words; }
  /// Return the first 90 % of the shuffled sentences for training, and the other sentences for
  /// test.
  table<source> train() const { return {*this, 0, data_->train_count}; }
  table<source> test() const { return {*this, data_->train_count, data_->labels.size()}; }

 private:
  struct data {
    LAMINA_API data(const detail::sentences& from, std::int64_t size);
    LAMINA_API static word_counts counts(const detail::sentences& from);

    dictionary words;
    std::size_t train_count;
    std::vector<std::ptrdiff_t> begins;  // for each sentence, the index of its first word in ids
    std::vector<std::int32_t> ids;
    std::vector<std::uint8_t> labels;
  };
  std::shared_ptr<const data> data_;
};

/// Reads the sentences of rt-polarity.pos and rt-polarity.neg in `directory`, one per line. Blanks
/// separate words. Words are used as bytes, without conversion (the original files are Latin-1).
/// The sentences are shuffled with a fixed seed, in the same way on every machine; 90 % are for
/// training. Throws lamina::error for a missing file, and format_error for a file without
/// sentences, an empty line, and bytes that are not text.
LAMINA_API_COLD source read(const std::string& directory, std::int64_t dictionary_size);

/// The number of sentences of the synthetic data.
inline constexpr std::size_t twin_size = 2000;

/// Returns synthetic data for programs without the files: sentences of 2 to 14 words, about half of
/// them positive and half negative. One word of each sentence is positive or negative. In half of
/// the sentences, "not" or "never" precedes this word and reverses its meaning. In half of the
/// other sentences, "not" or "never" precedes another word and has no effect. So the order of words
/// matters: a model that ignores the order is right in at most 75 % of the sentences. The sentences
/// have the same bits on every machine.
LAMINA_API_COLD source twin(std::int64_t dictionary_size = 64);

#if LAMINA_DEFINES

source::data::data(const detail::sentences& from, std::int64_t size)
    : words(counts(from), size), train_count(from.train_count()), begins{0} {
  for (const auto& sentence : from.all) {
    detail::for_each_word(sentence.text, [&](std::string_view word) {
      ids.push_back(static_cast<std::int32_t>(words.id(word)));
    });
    begins.push_back(static_cast<std::ptrdiff_t>(ids.size()));
    labels.push_back(static_cast<std::uint8_t>(sentence.label));
  }
}

word_counts source::data::counts(const detail::sentences& from) {
  word_counts seen;
  for (std::size_t i = 0; i < from.train_count(); ++i)
    detail::for_each_word(from.all[i].text, [&](std::string_view word) { count_word(seen, word); });
  return seen;
}

source read(const std::string& directory, std::int64_t dictionary_size) {
  detail::sentences all;
  detail::read_lines(directory + "/rt-polarity.pos", 1, all);
  detail::read_lines(directory + "/rt-polarity.neg", 0, all);
  all.shuffle();
  return source(all, dictionary_size);
}

source twin(std::int64_t dictionary_size) {
  constexpr std::array praise{"brilliant", "charming", "clever", "delightful", "funny",
                              "moving",    "smart",    "superb", "touching",   "witty"};
  constexpr std::array blame{"awful",    "boring",  "clumsy", "dreadful", "dull",
                             "lifeless", "shallow", "stale",  "tedious",  "tiresome"};
  constexpr std::array plain{"a",    "actor", "and",   "camera", "director", "film", "his",
                             "in",   "is",    "it",    "movie",  "music",    "of",   "on",
                             "plot", "quite", "scene", "script", "story",    "that", "the",
                             "this", "to",    "very",  "with",   "world",    "year", "."};
  constexpr std::array turning{"not", "never"};
  detail::sentences all;
  for (std::uint64_t i = 0; i < twin_size; ++i) {
    std::uint64_t drawn = 0;
    const auto below = [&](std::size_t count) {
      return static_cast<std::size_t>(philox(2005, 2 + i, drawn++).word[0] % count);
    };
    const bool praises = below(2) == 0, turned = below(2) == 0, misleads = !turned && below(2) == 0;
    const std::size_t length = 2 + below(12), position = below(length);
    std::size_t misleading = length;  // position of a negation without effect
    if (misleads) misleading = (position + 1 + below(length - 1)) % length;
    std::string text;
    for (std::size_t w = 0; w < length; ++w) {
      if ((w == position && turned) || w == misleading) (text += turning[below(2)]) += ' ';
      if (w == position)
        text += praises ? praise[below(praise.size())] : blame[below(blame.size())];
      else
        text += plain[below(plain.size())];
      text += ' ';
    }
    all.all.push_back({text, praises != turned ? 1 : 0});
  }
  return source(all, dictionary_size);
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset::movie_reviews
