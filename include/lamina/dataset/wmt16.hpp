// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/wmt16.hpp - sentences in German and English: WMT-16 as PaddlePaddle distributes
// it, wmt16.tar.gz.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
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
#include <lamina/dataset/archive_members.hpp>
#include <lamina/dataset/table.hpp>
#include <lamina/dataset/text_member.hpp>
#include <lamina/dataset/translation.hpp>
#include <lamina/dataset/vocabulary.hpp>
#include <lamina/dataset/word_counter.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset::wmt16 {

using translation::sample;

/// The numbers of different words in the original text for training, including the marks.
/// Dictionaries cannot be larger.
inline constexpr std::int64_t total_en_words = 11250, total_de_words = 19220;

enum class language : std::uint8_t { en, de };

/// The options of reading the archive.
struct options {
  /// Numbers of words, including the three marks.
  std::int64_t src_dict_size = 30000, trg_dict_size = 30000;
  language src_lang = language::en;  ///< the other language is the target
  /// Whether to leave out lines without exactly one tab, as PaddlePaddle does; otherwise they are
  /// errors.
  bool skip_malformed = false;
};

/// The pairs of sentences of all parts, and the dictionaries. All tables of a source share them.
class source {
 public:
  /// `files` must have the members wmt16/train, wmt16/test and wmt16/val.
  LAMINA_COLD explicit source(const archive_members& files, const options& how = {})
      : data_(std::make_shared<const data>(files, how)) {}

  /// Return the parts of the data. Fluid: dataset.wmt16.train, test, validation.
  table<translation::pairs> train() const { return whole(data_->train); }
  table<translation::pairs> test() const { return whole(data_->test); }
  table<translation::pairs> validation() const { return whole(data_->validation); }

  /// Return the dictionaries of the source and of the target language. "<s>", "<e>" and "<unk>"
  /// have the ids 0, 1 and 2. Fluid: dataset.wmt16.get_dict.
  const vocabulary& src_dict() const { return data_->source_words; }
  const vocabulary& trg_dict() const { return data_->target_words; }

  /// Returns how many lines of all parts were left out because they did not have exactly one tab.
  std::size_t malformed() const {
    return data_->train.malformed() + data_->test.malformed() + data_->validation.malformed();
  }

 private:
  struct data {
    data(const archive_members& files, const options& how)
        : source_words(dictionary_of(files, how, 0)),
          target_words(dictionary_of(files, how, 1)),
          train(part(files, "wmt16/train", how)),
          test(part(files, "wmt16/test", how)),
          validation(part(files, "wmt16/val", how)) {}

    static translation::line_rules rules(const options& how) {
      return {.skip_malformed = how.skip_malformed,
              .source_column = how.src_lang == language::de ? 1 : 0};
    }
    /// Returns the most frequent words of the source (side 0) or the target (side 1) in the text
    /// for training.
    LAMINA_API static vocabulary dictionary_of(const archive_members& files, const options& how,
                                               std::size_t side);
    translation::pairs part(const archive_members& files, std::string_view name,
                            const options& how) const {
      return translation::read_pairs(files.at(name), source_words, target_words, rules(how));
    }

    vocabulary source_words, target_words;
    translation::pairs train, test, validation;
  };

  static table<translation::pairs> whole(const translation::pairs& part) {
    return {part, 0, part.size()};
  }

  std::shared_ptr<const data> data_;
};

namespace detail {
inline bool is_part(std::string_view name) {
  return name == "wmt16/train" || name == "wmt16/test" || name == "wmt16/val";
}
}  // namespace detail

/// Reads wmt16.tar.gz. Each line of a text has an English sentence, a tab and the German
/// translation, both in subword units (BPE). A dictionary has the three marks and then the most
/// frequent words of the text for training; equally frequent words are in the order of their first
/// occurrence. Throws format_error for a damaged archive, a missing member, text that is not UTF-8,
/// and lines without exactly one tab (see options).
LAMINA_COLD inline source read(const std::string& path, const options& how = {}) {
  return source(read_tar_members(path, detail::is_part), how);
}

#if LAMINA_DEFINES

vocabulary source::data::dictionary_of(const archive_members& files, const options& how,
                                       std::size_t side) {
  const std::int64_t wanted = side == 0 ? how.src_dict_size : how.trg_dict_size;
  if (wanted < 3)
    throw error(lamina::text("lamina: dataset::wmt16: expected a dictionary size of at least 3, "
                             "the marks, found ")
                << wanted);
  const bool english = (how.src_lang == language::en) == (side == 0);
  const auto size =
      static_cast<std::size_t>((std::min)(wanted, english ? total_en_words : total_de_words));
  const text_member& from = files.at("wmt16/train");
  from.check_utf8();
  word_counter counts;
  for_each_line(from, [&](const text_line& line) {
    std::array<std::string_view, 2> sentences;
    if (!translation::sentences_of(line, rules(how), sentences)) return;
    for_each_word(sentences[side], [&](std::string_view word) { counts.add(word); });
  });
  std::vector<std::string> words(std::begin(translation::marks), std::end(translation::marks));
  for (std::string& word : counts.by_first_occurrence()) {
    if (std::find(words.begin(), words.begin() + 3, word) != words.begin() + 3) continue;
    if (words.size() == size) break;
    words.push_back(std::move(word));
  }
  return {std::move(words), translation::unknown_id};
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset::wmt16
