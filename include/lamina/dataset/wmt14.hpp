// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/wmt14.hpp - French sentences and their English translations: WMT-14 as
// PaddlePaddle distributes it, wmt14.tgz.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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

namespace lamina { inline namespace LAMINA_ABI { namespace dataset::wmt14 {

using translation::sample;

/// The options of reading the archive.
struct options {
  std::int64_t dict_size = 30000;  ///< words per dictionary; these are the first lines of its file
  /// Whether to leave out lines without exactly one tab, as PaddlePaddle does; otherwise they are
  /// errors.
  bool skip_malformed = false;
};

/// The pairs of sentences of all parts, and the dictionaries. All tables of a source share them.
class source {
 public:
  /// `files` must have members whose names end in src.dict, trg.dict and train/train. Members whose
  /// names end in test/test and gen/gen may be missing.
  LAMINA_COLD explicit source(const archive_members& files, const options& how = {})
      : data_(std::make_shared<const data>(files, how)) {}

  /// Return the parts of the data. They throw format_error if the archive does not have the part.
  /// Fluid: dataset.wmt14.train, test, gen.
  table<translation::pairs> train() const { return whole(data_->train, "train/train"); }
  table<translation::pairs> test() const { return whole(data_->test, "test/test"); }
  table<translation::pairs> gen() const { return whole(data_->gen, "gen/gen"); }

  /// Return the dictionaries of the source and of the target language. "<s>", "<e>" and "<unk>"
  /// have the ids 0, 1 and 2. Fluid: dataset.wmt14.get_dict.
  const vocabulary& src_dict() const { return data_->source_words; }
  const vocabulary& trg_dict() const { return data_->target_words; }

  /// Return how many lines of all parts were left out because a sentence was too long, and how many
  /// because they did not have exactly one tab.
  std::size_t too_long() const { return data_->sum(&translation::pairs::too_long); }
  std::size_t malformed() const { return data_->sum(&translation::pairs::malformed); }

 private:
  struct data {
    data(const archive_members& files, const options& how)
        : path(files.path),
          source_words(dictionary_of(only(files, "src.dict"), how.dict_size)),
          target_words(dictionary_of(only(files, "trg.dict"), how.dict_size)),
          train(part(files, "train/train", how)),
          test(part(files, "test/test", how)),
          gen(part(files, "gen/gen", how)) {
      if (!train) missing(path, "train/train");
    }

    [[noreturn]] static void missing(const std::string& path, std::string_view ending) {
      throw format_error(path, 0,
                         lamina::text("expected a member whose name ends in '")
                             << ending << "', found none");
    }
    LAMINA_API static const text_member* last(const archive_members& files,
                                              std::string_view ending);
    static const text_member& only(const archive_members& files, std::string_view ending) {
      const text_member* found = last(files, ending);
      if (found == nullptr) missing(files.path, ending);
      return *found;
    }
    LAMINA_API static vocabulary dictionary_of(const text_member& from, std::int64_t size);
    LAMINA_API std::optional<translation::pairs> part(const archive_members& files,
                                                      std::string_view ending,
                                                      const options& how) const;

    LAMINA_API std::size_t sum(std::size_t (translation::pairs::*number)() const) const;

    std::string path;
    vocabulary source_words, target_words;
    std::optional<translation::pairs> train, test, gen;
  };

  table<translation::pairs> whole(const std::optional<translation::pairs>& part,
                                  std::string_view ending) const {
    if (!part) data::missing(data_->path, ending);
    return {*part, 0, part->size()};
  }

  std::shared_ptr<const data> data_;
};

namespace detail {
LAMINA_API bool is_part(std::string_view name);
#if LAMINA_DEFINES

bool is_part(std::string_view name) {
  for (const std::string_view ending :
       {"src.dict", "trg.dict", "train/train", "test/test", "gen/gen"})
    if (name.ends_with(ending)) return true;
  return false;
}

#endif  // LAMINA_DEFINES

}  // namespace detail

/// Reads wmt14.tgz. Each line of a text has a French sentence, a tab and the English translation.
/// The dictionaries have one word per line, the most frequent first. As in PaddlePaddle, pairs with
/// a sentence of more than 80 words are left out; in the source sentence, the marks count as words.
/// Throws format_error for a damaged archive, a member that is missing or occurs twice, text that
/// is not UTF-8, a dictionary that does not begin with "<s>", "<e>" and "<unk>" or has an empty
/// line, and lines without exactly one tab (see options).
LAMINA_COLD inline source read(const std::string& path, const options& how = {}) {
  return source(read_tar_members(path, detail::is_part), how);
}

#if LAMINA_DEFINES

const text_member* source::data::last(const archive_members& files, std::string_view ending) {
  const text_member* found = nullptr;
  for (const text_member& m : files.all) {
    if (!m.name.ends_with(ending)) continue;
    if (found != nullptr)
      m.fail(0, lamina::text("expected one member whose name ends in '")
                    << ending << "', found '" << found->name << "' too");
    if (m.bytes.empty()) m.fail(0, "expected a text, found an empty member");
    found = &m;
  }
  return found;
}

vocabulary source::data::dictionary_of(const text_member& from, std::int64_t size) {
  if (size < 3)
    throw error(lamina::text("lamina: dataset::wmt14: expected a dictionary size of at least 3, "
                             "the marks, found ")
                << size);
  from.check_utf8();
  std::vector<std::string> words;
  for_each_line(from, [&](const text_line& line) {
    if (static_cast<std::int64_t>(words.size()) == size) return;
    const std::string_view word = trimmed(line.text);
    const bool is_mark = words.size() < 3;
    if (is_mark ? word != translation::marks[words.size()] : word.empty())
      line.fail(word, lamina::text("expected ")
                          << (is_mark ? in_quotes(translation::marks[words.size()])
                                      : std::string("a word of the dictionary"))
                          << ", found " << (word.empty() ? "an empty line" : in_quotes(word)));
    words.emplace_back(word);
  });
  if (words.size() < 3)
    from.fail(from.bytes.size(), lamina::text("expected '<s>', '<e>' and '<unk>' as the first "
                                              "words of the dictionary, found ")
                                     << words.size() << " words");
  return {std::move(words), translation::unknown_id};
}

std::optional<translation::pairs> source::data::part(const archive_members& files,
                                                     std::string_view ending,
                                                     const options& how) const {
  const text_member* from = last(files, ending);
  if (from == nullptr) return std::nullopt;
  return translation::read_pairs(*from, source_words, target_words,
                                 {.longest = 80, .skip_malformed = how.skip_malformed});
}

std::size_t source::data::sum(std::size_t (translation::pairs::*number)() const) const {
  std::size_t all = 0;
  for (const auto* part : {&train, &test, &gen})
    if (*part) all += ((**part).*number)();
  return all;
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset::wmt14
