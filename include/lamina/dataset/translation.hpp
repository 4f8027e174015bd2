// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/translation.hpp - pairs of sentences in two languages as ids, with the begin and
// end marks that an encoder and a decoder need.
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
#include <lamina/dataset/table.hpp>
#include <lamina/dataset/text_member.hpp>
#include <lamina/dataset/vocabulary.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset::translation {

/// A sentence and its translation.
struct sample {
  std::vector<std::int64_t> source;  ///< "<s>", the words, "<e>"
  std::vector<std::int64_t> target;  ///< "<s>", the words of the translation
  std::vector<std::int64_t> next;    ///< the words of the translation, "<e>"
};

/// The marks; their indices are their ids in the dictionaries of both languages.
inline constexpr std::string_view marks[] = {"<s>", "<e>", "<unk>"};
inline constexpr std::int64_t start_id = 0, end_id = 1, unknown_id = 2;

/// Rules for reading the lines of a text: which lines are left out, and which column is the source.
struct line_rules {
  /// A line is left out if the source (with marks) or the translation has more words; 0: no limit.
  std::size_t longest = 0;
  /// Whether to leave out lines without exactly one tab; otherwise they are errors.
  bool skip_malformed = false;
  int source_column = 0;  ///< the column of the source language
};

/// Pairs of sentences. Copies, and all tables made from them, share the sentences.
class pairs {
 public:
  LAMINA_API sample at(std::size_t row) const;
  std::size_t size() const { return data_->begins.size() / 2; }
  /// Return the number of lines that were left out because they were too long, or because they did
  /// not have two sentences.
  std::size_t too_long() const { return data_->too_long; }
  std::size_t malformed() const { return data_->malformed; }

 private:
  friend pairs read_pairs(const text_member&, const vocabulary&, const vocabulary&,
                          const line_rules&);
  // Sentence i is ids[begins[i], begins[i + 1]). Sentences with an even number are in the source
  // language.
  struct data {
    std::vector<std::int32_t> ids;
    std::vector<std::size_t> begins{0};
    std::size_t too_long = 0, malformed = 0;
  };
  explicit pairs(std::shared_ptr<const data> from) : data_(std::move(from)) {}

  std::size_t length(std::size_t sentence) const {
    return data_->begins[sentence + 1] - data_->begins[sentence];
  }
  void append(std::size_t sentence, std::vector<std::int64_t>& to) const {
    to.insert(to.end(), data_->ids.data() + data_->begins[sentence],
              data_->ids.data() + data_->begins[sentence + 1]);
  }

  std::shared_ptr<const data> data_;
};

/// Splits a line at its tab into two sentences, and stores the sentence in the source language
/// first. Returns false if the line must be left out.
LAMINA_API_COLD bool sentences_of(const text_line& line, const line_rules& rules,
                                  std::array<std::string_view, 2>& sentences);

/// Reads a UTF-8 text. Each line has a sentence, a tab and the translation of the sentence. Throws
/// format_error for other encodings and, unless the rules leave them out, for lines without exactly
/// one tab.
LAMINA_API_COLD pairs read_pairs(const text_member& from, const vocabulary& source_words,
                                 const vocabulary& target_words, const line_rules& rules);

#if LAMINA_DEFINES

sample pairs::at(std::size_t row) const {
  const std::size_t source = 2 * row, target = source + 1;
  sample s;
  s.source.reserve(length(source) + 2);
  s.source.push_back(start_id);
  append(source, s.source);
  s.source.push_back(end_id);
  s.target.push_back(start_id);
  append(target, s.target);
  append(target, s.next);
  s.next.push_back(end_id);
  return s;
}

bool sentences_of(const text_line& line, const line_rules& rules,
                  std::array<std::string_view, 2>& sentences) {
  if (rules.skip_malformed) {
    const std::string_view all = trimmed(line.text);
    const std::size_t tab = all.find('\t');
    if (tab == all.npos || all.find('\t', tab + 1) != all.npos) return false;
  }
  sentences = fields_of<2>(line, "\t");
  if (rules.source_column == 1) std::swap(sentences[0], sentences[1]);
  return true;
}

pairs read_pairs(const text_member& from, const vocabulary& source_words,
                 const vocabulary& target_words, const line_rules& rules) {
  from.check_utf8();
  pairs::data made;
  for_each_line(from, [&](const text_line& line) {
    std::array<std::string_view, 2> sentences;
    if (!sentences_of(line, rules, sentences)) {
      ++made.malformed;
      return;
    }
    const std::size_t begin = made.ids.size();
    for_each_word(sentences[0], [&](std::string_view word) {
      made.ids.push_back(static_cast<std::int32_t>(source_words.id(word)));
    });
    const std::size_t middle = made.ids.size();
    for_each_word(sentences[1], [&](std::string_view word) {
      made.ids.push_back(static_cast<std::int32_t>(target_words.id(word)));
    });
    const std::size_t end = made.ids.size();
    if (rules.longest > 0 && (middle - begin + 2 > rules.longest || end - middle > rules.longest)) {
      made.ids.resize(begin);
      ++made.too_long;
      return;
    }
    made.begins.push_back(middle);
    made.begins.push_back(end);
  });
  return pairs(std::make_shared<const pairs::data>(std::move(made)));
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset::translation
